//! Keeps the requests of a running launch, and how often each word is loaded and updated by atomic
//! operations.
//! `machine/observe/recorder.rs` adds them, from several threads; the report takes them.

use std::sync::{Mutex, PoisonError};

use ptx::Space;
use rustc_hash::FxHashMap;

use super::recorded::{ArrayCounts, Request, RequestedMemory, Watch};
use crate::address::AllocationSpan;
use crate::instruction::AccessKind;
use crate::lanes::lanes;

/// The requests of a launch that are kept so far.
pub(crate) struct Recorder {
    watch: Option<Watch>,
    kept: Mutex<Kept>,
    /// The accesses to each word of global memory, if they are counted: by pages.
    words: Option<Mutex<FxHashMap<u64, Box<Page>>>>,
}

/// The loads of the words of a page, the atomic operations on them, and the requests that load its
/// sectors.
struct Page {
    loads: [u32; PAGE_WORDS as usize],
    atomics: [u32; PAGE_WORDS as usize],
    sectors: [u32; (PAGE_WORDS / SECTOR_WORDS) as usize],
}

const PAGE_WORDS: u64 = 1024;
const WORD_BYTES: u64 = 4;
const SECTOR_WORDS: u64 = 8;

impl Page {
    const EMPTY: Self = Self {
        loads: [0; PAGE_WORDS as usize],
        atomics: [0; PAGE_WORDS as usize],
        sectors: [0; (PAGE_WORDS / SECTOR_WORDS) as usize],
    };
}

#[derive(Default)]
struct Kept {
    requests: Vec<Request>,
    /// How many of `requests` are of each instruction and memory, in each warp of a block.
    counts: FxHashMap<(u64, u32, u32, RequestedMemory), u32>,
}

impl Recorder {
    /// One that keeps what `watch` asks for, and counts accesses to words if it is to; `None` if
    /// neither.
    pub fn new(watch: Option<Watch>, counts_words: bool) -> Option<Self> {
        let words = counts_words.then(Mutex::default);
        (watch.is_some() || counts_words).then(|| Self { watch, kept: Mutex::default(), words })
    }

    /// Whether it takes requests of this warp of this block to a state space. Words are counted of
    /// global memory alone.
    pub fn watches(&self, block: u64, warp: u32, space: Space) -> bool {
        self.words.is_some() && matches!(space, Space::Global | Space::Generic) || self.keeps(block, warp)
    }

    /// Whether the requests of this warp of this block are kept.
    pub fn keeps(&self, block: u64, warp: u32) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.blocks.contains(&block) && watch.warps.contains(&warp))
    }

    /// Keeps a request of a watched warp, unless enough of its kind are kept, and counts its words.
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

    /// Counts the words of global memory that each lane loads or updates by an atomic operation.
    fn count(&self, request: &Request) {
        let Some(counted) = &self.words else { return };
        let loads = match request.kind {
            AccessKind::Load | AccessKind::Copy => true,
            AccessKind::Atomic | AccessKind::Reduction => false,
            AccessKind::Store => return,
        };
        if request.memory != RequestedMemory::Global {
            return;
        }
        let mut pages = counted.lock().unwrap_or_else(PoisonError::into_inner);
        let width = u64::from(request.width).div_ceil(WORD_BYTES);
        let words = lanes(request.mask).flat_map(|lane| {
            let first = request.addresses[lane] / WORD_BYTES;
            first..first.saturating_add(width)
        });
        let mut words = words.peekable();
        let mut sectors = Vec::with_capacity(32);
        // Lanes mostly go to one page, which is looked up once.
        while let Some(number) = words.peek().map(|word| word / PAGE_WORDS) {
            let page = pages.entry(number).or_insert_with(|| Box::new(Page::EMPTY));
            while let Some(word) = words.next_if(|word| word / PAGE_WORDS == number) {
                let counts = if loads { &mut page.loads } else { &mut page.atomics };
                let count = &mut counts[(word % PAGE_WORDS) as usize];
                *count = count.saturating_add(1);
                let sector = word / SECTOR_WORDS;
                if loads && sectors.last() != Some(&sector) {
                    sectors.push(sector);
                }
            }
        }
        sectors.sort_unstable();
        sectors.dedup();
        for sector in sectors {
            let first = sector * SECTOR_WORDS;
            if let Some(page) = pages.get_mut(&(first / PAGE_WORDS)) {
                let count = &mut page.sectors[(first % PAGE_WORDS / SECTOR_WORDS) as usize];
                *count = count.saturating_add(1);
            }
        }
    }

    /// How often the lanes loaded or updated each word of these allocations, if that was counted;
    /// only of allocations where something was.
    pub fn arrays(&self, allocations: impl Iterator<Item = AllocationSpan>) -> Vec<ArrayCounts> {
        let Some(counted) = &self.words else { return Vec::new() };
        let counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |AllocationSpan { address, bytes }: AllocationSpan| {
            let (first, end) = (address / WORD_BYTES, (address + bytes).div_ceil(WORD_BYTES));
            let pages = first / PAGE_WORDS..end.div_ceil(PAGE_WORDS);
            if !pages.clone().any(|page| counted.contains_key(&page)) {
                return None;
            }
            let mut loads = vec![0; (end - first) as usize];
            let (mut moves, mut atomics) = (loads.clone(), loads.clone());
            for page in pages {
                let Some(counts) = counted.get(&page) else { continue };
                let begin = page * PAGE_WORDS;
                for word in begin.max(first)..(begin + PAGE_WORDS).min(end) {
                    let (to, from) = ((word - first) as usize, (word - begin) as usize);
                    loads[to] = counts.loads[from];
                    atomics[to] = counts.atomics[from];
                    moves[to] = counts.sectors[from / SECTOR_WORDS as usize];
                }
            }
            let any = loads.iter().chain(&atomics).any(|count| *count > 0);
            any.then_some(ArrayCounts { address, loads, moves, atomics })
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
