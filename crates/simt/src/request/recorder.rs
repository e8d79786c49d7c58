//! Keeps the requests of a running launch, and how often each word is loaded.
//! `machine/observe/recorder.rs` adds them, from several threads; the report takes them.

use std::sync::{Mutex, PoisonError};

use ptx::Space;
use rustc_hash::FxHashMap;

use super::recorded::{ArrayLoads, Request, RequestedMemory, Watch};
use crate::address::AllocationSpan;
use crate::instruction::AccessKind;
use crate::lanes::lanes;

/// The requests of a launch that are kept so far.
pub(crate) struct Recorder {
    watch: Option<Watch>,
    kept: Mutex<Kept>,
    /// The loads of each word of global memory, if they are counted: by pages.
    loads: Option<Mutex<FxHashMap<u64, Box<Page>>>>,
}

/// The loads of the words of a page, and the requests that load its sectors.
struct Page {
    words: [u32; PAGE_WORDS as usize],
    sectors: [u32; (PAGE_WORDS / SECTOR_WORDS) as usize],
}

const PAGE_WORDS: u64 = 1024;
const WORD_BYTES: u64 = 4;
const SECTOR_WORDS: u64 = 8;

impl Page {
    const EMPTY: Self = Self { words: [0; PAGE_WORDS as usize], sectors: [0; (PAGE_WORDS / SECTOR_WORDS) as usize] };
}

#[derive(Default)]
struct Kept {
    requests: Vec<Request>,
    /// How many of `requests` are of each instruction and memory, in each warp of a block.
    counts: FxHashMap<(u64, u32, u32, RequestedMemory), u32>,
}

impl Recorder {
    /// One that keeps what `watch` asks for, and counts loads if it is to; `None` if neither.
    pub fn new(watch: Option<Watch>, counts_loads: bool) -> Option<Self> {
        let loads = counts_loads.then(Mutex::default);
        (watch.is_some() || counts_loads).then(|| Self { watch, kept: Mutex::default(), loads })
    }

    /// Whether it takes requests of this warp of this block to a state space. Loads are counted of
    /// global memory alone.
    pub fn watches(&self, block: u64, warp: u32, space: Space) -> bool {
        self.loads.is_some() && matches!(space, Space::Global | Space::Generic) || self.keeps(block, warp)
    }

    /// Whether the requests of this warp of this block are kept.
    pub fn keeps(&self, block: u64, warp: u32) -> bool {
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
        let width = u64::from(request.width).div_ceil(WORD_BYTES);
        let words = lanes(request.mask).flat_map(|lane| {
            let first = request.addresses[lane] / WORD_BYTES;
            first..first.saturating_add(width)
        });
        let mut words = words.peekable();
        let mut sectors = Vec::with_capacity(32);
        // Lanes mostly load from one page, which is looked up once.
        while let Some(number) = words.peek().map(|word| word / PAGE_WORDS) {
            let page = loads.entry(number).or_insert_with(|| Box::new(Page::EMPTY));
            while let Some(word) = words.next_if(|word| word / PAGE_WORDS == number) {
                let count = &mut page.words[(word % PAGE_WORDS) as usize];
                *count = count.saturating_add(1);
                let sector = word / SECTOR_WORDS;
                if sectors.last() != Some(&sector) {
                    sectors.push(sector);
                }
            }
        }
        sectors.sort_unstable();
        sectors.dedup();
        for sector in sectors {
            let first = sector * SECTOR_WORDS;
            if let Some(page) = loads.get_mut(&(first / PAGE_WORDS)) {
                let count = &mut page.sectors[(first % PAGE_WORDS / SECTOR_WORDS) as usize];
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
            let mut moves = words.clone();
            for page in pages {
                let Some(counts) = loads.get(&page) else { continue };
                let begin = page * PAGE_WORDS;
                for word in begin.max(first)..(begin + PAGE_WORDS).min(end) {
                    words[(word - first) as usize] = counts.words[(word - begin) as usize];
                    moves[(word - first) as usize] = counts.sectors[((word - begin) / SECTOR_WORDS) as usize];
                }
            }
            words.iter().any(|count| *count > 0).then_some(ArrayLoads { address, words, moves })
        };
        allocations.filter_map(of).collect()
    }

    /// The requests by instruction, block and warp, each warp's in the order of its execution.
    pub fn finish(&self) -> Vec<Request> {
        let mut requests = std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner).requests);
        // Stable, and a warp's own are in order.
        requests.sort_by_key(|request| (request.instruction, request.block, request.warp));
        requests
    }
}
