//! Keeps the requests of a running launch, and how often each word is loaded.
//! `machine/observe/recorder.rs` adds them, from several threads; the report takes them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::recorded::{ArrayLoads, Request, RequestedMemory, Watch};
use crate::address::AllocationSpan;
use crate::instruction::AccessKind;
use crate::lanes::lanes;
use crate::model::LoadCaching;

/// The requests of a launch that are kept so far.
pub(crate) struct Recorder {
    watch: Option<Watch>,
    caching: LoadCaching,
    kept: Mutex<Kept>,
    /// The loads of each word of global memory, if they are counted: by pages.
    loads: Option<Mutex<HashMap<u64, Box<Page>>>>,
}

/// The loads of the words of a page.
type Page = [u32; PAGE_WORDS as usize];
const PAGE_WORDS: u64 = 1024;
const WORD_BYTES: u64 = 4;

#[derive(Default)]
struct Kept {
    requests: Vec<Request>,
    /// How many of `requests` are of each instruction and memory, in each warp of a block.
    counts: HashMap<(u64, u32, u32, RequestedMemory), u32>,
}

impl Recorder {
    /// One that keeps what `watch` asks for, and counts loads if it is to; `None` if neither.
    pub fn new(watch: Option<Watch>, counts_loads: bool, caching: LoadCaching) -> Option<Self> {
        let loads = counts_loads.then(Mutex::default);
        (watch.is_some() || counts_loads).then(|| Self { watch, caching, kept: Mutex::default(), loads })
    }

    /// Whether this warp of this block is watched.
    pub fn watches(&self, block: u64, warp: u32) -> bool {
        self.loads.is_some() || self.keeps(block, warp)
    }

    fn keeps(&self, block: u64, warp: u32) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.blocks.contains(&block) && watch.warps.contains(&warp))
    }

    /// Keeps a request of a watched warp, unless enough of its kind are kept, and counts its loads.
    pub fn keep(&self, request: Request) {
        self.count(&request);
        let Some(watch) = self.watch.as_ref().filter(|_| self.keeps(request.block, request.warp)) else { return };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (request.block, request.warp, request.instruction, request.memory);
        let count = kept.counts.entry(key).or_default();
        if *count < watch.requests {
            *count += 1;
            kept.requests.push(request);
        }
    }

    /// Counts the words that each lane loads from global memory.
    fn count(&self, request: &Request) {
        let Some(loads) = &self.loads else { return };
        let loaded = matches!(request.kind, AccessKind::Load | AccessKind::Copy);
        if request.memory != RequestedMemory::Global || !loaded {
            return;
        }
        let mut loads = loads.lock().unwrap_or_else(PoisonError::into_inner);
        for lane in lanes(request.mask) {
            let first = request.addresses[lane] / WORD_BYTES;
            let words = u64::from(request.width).div_ceil(WORD_BYTES);
            for word in first..first.saturating_add(words) {
                let page = loads.entry(word / PAGE_WORDS).or_insert_with(|| Box::new([0; PAGE_WORDS as usize]));
                let count = &mut page[(word % PAGE_WORDS) as usize];
                *count = count.saturating_add(1);
            }
        }
    }

    /// How often the lanes loaded each word of these allocations, if that was counted; only of
    /// allocations that something was loaded from.
    pub fn loads(&self, allocations: impl Iterator<Item = AllocationSpan>) -> Vec<ArrayLoads> {
        let Some(loads) = &self.loads else { return Vec::new() };
        let loads = loads.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |AllocationSpan { address, bytes }: AllocationSpan| {
            let (first, end) = (address / WORD_BYTES, (address + bytes).div_ceil(WORD_BYTES));
            let pages = first / PAGE_WORDS..end.div_ceil(PAGE_WORDS);
            if !pages.clone().any(|page| loads.contains_key(&page)) {
                return None;
            }
            let mut words = vec![0; (end - first) as usize];
            for page in pages {
                let Some(counts) = loads.get(&page) else { continue };
                let begin = page * PAGE_WORDS;
                for word in begin.max(first)..(begin + PAGE_WORDS).min(end) {
                    words[(word - first) as usize] = counts[(word - begin) as usize];
                }
            }
            words.iter().any(|count| *count > 0).then_some(ArrayLoads { address, words })
        };
        allocations.filter_map(of).collect()
    }

    /// The requests by instruction, block and warp, each warp's in the order of its execution;
    /// and how the launch caches loads.
    pub fn finish(&self) -> (Vec<Request>, LoadCaching) {
        let mut requests = std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner).requests);
        // Stable, and a warp's own are in order.
        requests.sort_by_key(|request| (request.instruction, request.block, request.warp));
        (requests, self.caching)
    }
}
