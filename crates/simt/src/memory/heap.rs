//! The device heap: what kernels allocate with `malloc` and free with `free`. `machine/heap.rs`
//! executes the calls; the memory of the device owns the heap, and the host lists what is left in
//! it.
//!
//! A *chunk* is what one call of `malloc` returned. The memory itself is one range, as large as the
//! heap may grow, and freed parts are reused at once. The addresses that kernels see are never
//! reused: each chunk has its own, with a gap after it. So stray and stale pointers are detected,
//! as in the rest of device memory. A new chunk counts as unwritten and not accessed; `free` counts
//! as a write, so it races with accesses that nothing orders before it.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::written::Written;
use crate::address::FreeFault;
use crate::address::GLOBAL_BASE;
use crate::address::{AccessFaultKind, AllocationSpan, Located};
use crate::coalesce::Shape;
use crate::error::MemoryError;
use crate::site::Site;

/// The default size of a device's heap, in bytes, as in CUDA.
pub const DEFAULT_HEAP_LIMIT: u64 = 8 << 20;

/// The heap's addresses start here, and end where those of other allocations start.
const BASE: u64 = 0x6800_0000_0000;
/// Chunks start at multiples of this.
const ALIGNMENT: u64 = 16;
/// The least gap between two chunks, in bytes.
const GAP: u64 = 4096;
/// The most bytes of a chunk, so that the width of a `free` fits 32 bits.
const LARGEST: u64 = (1 << 32) - 256;
/// How many freed chunks are remembered, to detect uses after free.
const REMEMBERED: usize = 1 << 20;

/// Whether an address could be in the heap.
pub(super) fn holds(address: u64) -> bool {
    (BASE..GLOBAL_BASE).contains(&address)
}

/// Memory that a kernel got from `malloc` and has not freed.
#[derive(Clone, Debug, PartialEq)]
pub struct HeapAllocation {
    /// Where it is.
    pub span: AllocationSpan,
    /// The name of the PTX module.
    pub module: Arc<str>,
    /// The kernel that was launched.
    pub kernel: Arc<str>,
    /// The call of `malloc`, and who called.
    pub site: Site,
}

/// Who called `malloc`, by numbers that are valid during the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// Index of the instruction in `Code::places`.
    pub place: u32,
    /// The block's number in the grid.
    pub block: u64,
    /// The thread's number in its block.
    pub thread: u32,
}

/// Who called `malloc`.
#[derive(Clone)]
enum Origin {
    /// In the running launch.
    Running(Caller),
    /// In a launch that has ended: the module, the kernel, the call's place, the block and the
    /// thread.
    Ended { module: Arc<str>, kernel: Arc<str>, call: Arc<Site>, block: [u32; 3], thread: [u32; 3] },
}

#[derive(Clone)]
struct Chunk {
    span: AllocationSpan,
    /// Its offset in the heap's memory.
    offset: u64,
    /// `None` once freed.
    origin: Option<Origin>,
}

/// The heap of a device.
pub(super) struct Heap {
    limit: u64,
    /// `None` until a program is loaded that needs it.
    words: Option<Box<[AtomicU32]>>,
    /// The bytes that kernels have written since they allocated them.
    pub written: Written,
    chunks: RwLock<Chunks>,
}

/// The chunks of a heap.
#[derive(Clone)]
pub(super) struct Chunks {
    /// Sorted by address.
    list: Vec<Chunk>,
    freed: usize,
    /// The address of the next chunk.
    next: u64,
    /// The ranges that are in no chunk: offset and bytes. No two are adjacent.
    free: BTreeMap<u64, u64>,
    /// The number of chunks that the running launch allocated.
    running: usize,
}

impl Heap {
    pub fn new(limit: u64) -> Self {
        let chunks = Chunks { list: Vec::new(), freed: 0, next: BASE, free: BTreeMap::new(), running: 0 };
        Self { limit, words: None, written: Written::default(), chunks: RwLock::new(chunks) }
    }

    /// The most bytes that it can hold.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether its memory is allocated.
    pub fn is_reserved(&self) -> bool {
        self.words.is_some()
    }

    /// Allocates its memory.
    pub fn reserve(&mut self) -> Result<(), MemoryError> {
        // Whole units: the bytes of a partial one could never be used.
        let bytes = self.limit / ALIGNMENT * ALIGNMENT;
        let words = bytemuck::try_zeroed_slice_box((bytes / 4) as usize)
            .map_err(|()| MemoryError::HostOutOfMemory { requested: bytes })?;
        self.words = Some(words);
        self.written = Written::new(bytes);
        let chunks = self.chunks.get_mut().unwrap_or_else(PoisonError::into_inner);
        chunks.free = if bytes > 0 { BTreeMap::from([(0, bytes)]) } else { BTreeMap::new() };
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, Chunks> {
        self.chunks.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Chunks> {
        self.chunks.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of its memory.
    pub fn memory(&self) -> Option<&[AtomicU32]> {
        self.words.as_deref()
    }

    /// A copy of the list of chunks.
    pub fn chunks(&self) -> Chunks {
        self.read().clone()
    }

    /// Restores a list of chunks. Their contents are undefined.
    pub fn restore(&self, chunks: &Chunks) {
        self.write().clone_from(chunks);
        self.written.mark_all();
    }

    /// Allocates a chunk of this many bytes, if there is room.
    pub fn allocate(&self, bytes: u64, caller: Caller) -> Option<u64> {
        self.write().allocate(bytes, caller)
    }

    /// Frees the chunk at an address.
    pub fn free(&self, address: u64) -> Result<(), FreeFault> {
        self.write().free(address)
    }

    /// The words of the chunk that all active lanes access, and where in it they start.
    #[cold]
    #[inline(never)]
    pub fn words_of(&self, shape: &Shape, lowest: u64) -> Option<(&[AtomicU32], u64)> {
        let (span, offset) = self.live(lowest)?;
        let start = shape.start_within(lowest, span.address, span.bytes)?;
        Some((self.words_at(span, offset)?, start))
    }

    /// The words of the live chunk that an address is in, and the address's offset in them, in
    /// bytes.
    pub fn words(&self, address: u64) -> Option<(&[AtomicU32], usize)> {
        let (span, offset) = self.live(address)?;
        Some((self.words_at(span, offset)?, (address - span.address) as usize))
    }

    fn words_at(&self, span: AllocationSpan, offset: u64) -> Option<&[AtomicU32]> {
        self.memory()?.get((offset / 4) as usize..((offset + span.bytes).div_ceil(4)) as usize)
    }

    /// The live chunk that an address is in, and its offset in the heap's memory.
    fn live(&self, address: u64) -> Option<(AllocationSpan, u64)> {
        let chunks = self.read();
        let chunk = &chunks.list[chunks.at_or_below(address)?];
        let inside = address - chunk.span.address < chunk.span.bytes;
        (inside && chunk.origin.is_some()).then_some((chunk.span, chunk.offset))
    }

    /// The live chunk that an address is in; `index` is the heap's number among the allocations.
    pub fn locate(&self, address: u64, index: usize) -> Option<Located> {
        let (span, offset) = self.live(address)?;
        Some(Located { index, span, base: span.address.wrapping_sub(offset) })
    }

    /// Whether a thread may access `width` bytes at `address`.
    pub fn check(&self, address: u64, width: u32) -> Result<(), AccessFaultKind> {
        let chunks = self.read();
        let found = chunks.at_or_below(address).map(|index| &chunks.list[index]).filter(|chunk| {
            let end = (address - chunk.span.address).checked_add(width.into());
            end.is_some_and(|end| end <= chunk.span.bytes)
        });
        match found {
            None => Err(match chunks.nearest(address) {
                Some(Chunk { origin: None, span, .. }) => AccessFaultKind::Freed { allocation: *span },
                nearest => AccessFaultKind::OutOfBounds { nearest: nearest.map(|nearest| nearest.span) },
            }),
            Some(Chunk { origin: None, span, .. }) => Err(AccessFaultKind::Freed { allocation: *span }),
            Some(_) if !address.is_multiple_of(width.into()) => Err(AccessFaultKind::Misaligned { width }),
            Some(_) => Ok(()),
        }
    }

    /// A launch has ended: `report` resolves the numbers of a caller to the call, the block and the
    /// thread.
    pub fn settle(
        &self,
        module: &str,
        kernel: &str,
        mut report: impl FnMut(Caller) -> (Arc<Site>, [u32; 3], [u32; 3]),
    ) {
        let mut chunks = self.write();
        if std::mem::take(&mut chunks.running) == 0 {
            return;
        }
        let (module, kernel): (Arc<str>, Arc<str>) = (module.into(), kernel.into());
        for origin in chunks.list.iter_mut().filter_map(|chunk| chunk.origin.as_mut()) {
            if let Origin::Running(caller) = *origin {
                let (call, block, thread) = report(caller);
                *origin = Origin::Ended { module: module.clone(), kernel: kernel.clone(), call, block, thread };
            }
        }
    }

    /// The live chunks of launches that have ended, in order of allocation.
    pub fn allocations(&self) -> Vec<HeapAllocation> {
        let chunks = self.read();
        let ended = chunks.list.iter().filter_map(|Chunk { span, origin, .. }| match origin.as_ref()? {
            Origin::Running(_) => None,
            Origin::Ended { module, kernel, call, block, thread } => Some(HeapAllocation {
                span: *span,
                module: module.clone(),
                kernel: kernel.clone(),
                site: Site { block: *block, thread: *thread, ..Site::clone(call) },
            }),
        });
        ended.collect()
    }
}

impl Chunks {
    /// The last chunk that starts at or below `address`.
    fn at_or_below(&self, address: u64) -> Option<usize> {
        self.list.partition_point(|chunk| chunk.span.address <= address).checked_sub(1)
    }

    /// The chunk whose first or last byte is nearest: a live one, or a freed one no further away
    /// than the gap.
    fn nearest(&self, address: u64) -> Option<&Chunk> {
        let (below, above) = self.list.split_at(self.list.partition_point(|chunk| chunk.span.address <= address));
        let counts = |chunk: &&Chunk| chunk.origin.is_some() || chunk.span.distance(address) < GAP;
        let candidates = [below.iter().rev().find(counts), above.iter().find(counts)];
        let by_distance = |chunk: &&Chunk| (chunk.span.distance(address), chunk.origin.is_none());
        candidates.into_iter().flatten().min_by_key(by_distance)
    }

    fn allocate(&mut self, bytes: u64, caller: Caller) -> Option<u64> {
        if bytes > LARGEST {
            return None;
        }
        let taken = bytes.max(1).next_multiple_of(ALIGNMENT);
        let (&offset, &room) = self.free.iter().find(|&(_, &room)| room >= taken)?;
        let address = self.next;
        self.next = (address + taken + GAP).next_multiple_of(ALIGNMENT);
        if self.next > GLOBAL_BASE {
            return None;
        }
        self.free.remove(&offset);
        if room > taken {
            self.free.insert(offset + taken, room - taken);
        }
        let span = AllocationSpan { address, bytes };
        self.list.push(Chunk { span, offset, origin: Some(Origin::Running(caller)) });
        self.running += 1;
        Some(address)
    }

    fn free(&mut self, address: u64) -> Result<(), FreeFault> {
        let Some(index) = self.at_or_below(address) else { return Err(FreeFault::NotAllocated) };
        let Chunk { span, offset, ref mut origin } = self.list[index];
        if address != span.address {
            let inside = address - span.address < span.bytes && origin.is_some();
            return Err(if inside { FreeFault::Inside { allocation: span } } else { FreeFault::NotAllocated });
        }
        match origin.take() {
            None => return Err(FreeFault::Freed { allocation: span }),
            Some(Origin::Running(_)) => self.running -= 1,
            Some(Origin::Ended { .. }) => {}
        }
        self.give_back(offset, span.bytes.max(1).next_multiple_of(ALIGNMENT));
        self.freed += 1;
        if self.freed > REMEMBERED {
            self.forget();
        }
        Ok(())
    }

    /// Returns memory to the free list, merged with its free neighbours.
    fn give_back(&mut self, mut offset: u64, mut bytes: u64) {
        if let Some(behind) = self.free.remove(&(offset + bytes)) {
            bytes += behind;
        }
        if let Some((&before, &room)) = self.free.range(..offset).next_back()
            && before + room == offset
        {
            (offset, bytes) = (before, bytes + room);
        }
        self.free.insert(offset, bytes);
    }

    /// Forgets the older half of the freed chunks.
    fn forget(&mut self) {
        let mut surplus = self.freed / 2;
        self.freed -= surplus;
        self.list.retain(|chunk| {
            let forgotten = chunk.origin.is_none() && surplus > 0;
            surplus -= usize::from(forgotten);
            !forgotten
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CALLER: Caller = Caller { place: 0, block: 0, thread: 0 };

    fn heap(limit: u64) -> Heap {
        let mut heap = Heap::new(limit);
        heap.reserve().unwrap();
        heap
    }

    #[test]
    fn what_is_given_back_can_be_had_again() {
        let heap = heap(1024);
        let chunks: Vec<u64> = (0..4).map(|_| heap.allocate(256, CALLER).unwrap()).collect();
        assert_eq!(heap.allocate(1, CALLER), None);
        // Two free chunks that are not adjacent have no room for one as large as both.
        heap.free(chunks[0]).unwrap();
        heap.free(chunks[2]).unwrap();
        assert_eq!(heap.allocate(512, CALLER), None);
        heap.free(chunks[1]).unwrap();
        let again = heap.allocate(768, CALLER).unwrap();
        assert!(chunks.iter().all(|&chunk| again > chunk));
        assert_eq!(heap.check(chunks[1], 4).unwrap_err().name(), "use_after_free");
    }

    #[test]
    fn only_what_malloc_gave_can_be_freed() {
        let heap = heap(1024);
        let chunk = heap.allocate(40, CALLER).unwrap();
        let allocation = AllocationSpan { address: chunk, bytes: 40 };
        assert_eq!(heap.free(chunk + 8).unwrap_err(), FreeFault::Inside { allocation });
        assert_eq!(heap.free(chunk + 40).unwrap_err(), FreeFault::NotAllocated);
        assert_eq!(heap.free(chunk - 16).unwrap_err(), FreeFault::NotAllocated);
        heap.free(chunk).unwrap();
        assert_eq!(heap.free(chunk).unwrap_err(), FreeFault::Freed { allocation });
    }

    #[test]
    fn a_heap_may_have_no_room_at_all() {
        for limit in [0, 15] {
            assert_eq!(heap(limit).allocate(0, CALLER), None);
        }
        assert_eq!(Heap::new(1024).allocate(1, CALLER), None);
        assert_eq!(heap(1024).allocate(u64::MAX, CALLER), None);
    }

    #[test]
    fn who_allocated_is_reported_once_the_launch_is_over() {
        let heap = heap(1024);
        let [first, second] = [16, 17].map(|bytes| heap.allocate(bytes, CALLER).unwrap());
        heap.free(first).unwrap();
        assert_eq!(heap.allocations(), []);
        let call = Site {
            action: None,
            function: String::new(),
            instruction: String::new(),
            ptx_line: 7,
            source: Vec::new(),
            block: [0; 3],
            thread: [0; 3],
        };
        let call = Arc::new(call);
        heap.settle("m", "k", |_| (call.clone(), [1, 2, 3], [4, 5, 6]));
        let [left] = heap.allocations().try_into().unwrap();
        assert_eq!(left.span, AllocationSpan { address: second, bytes: 17 });
        assert_eq!((&*left.module, &*left.kernel, left.site.ptx_line), ("m", "k", 7));
        assert_eq!((left.site.block, left.site.thread), ([1, 2, 3], [4, 5, 6]));
    }

    proptest! {
        /// No two live chunks share a byte of memory, and when all are freed it is one range again.
        #[test]
        fn chunks_do_not_overlap(steps in prop::collection::vec((any::<bool>(), 0u64..300, any::<prop::sample::Index>()), 0..60)) {
            let heap = heap(2048);
            let mut live: Vec<u64> = Vec::new();
            for (allocates, bytes, which) in steps {
                if allocates {
                    live.extend(heap.allocate(bytes, CALLER));
                } else if !live.is_empty() {
                    heap.free(live.swap_remove(which.index(live.len()))).unwrap();
                }
                let chunks = heap.read();
                let mut pieces: Vec<(u64, u64)> = chunks.free.iter().map(|(&offset, &bytes)| (offset, bytes)).collect();
                let taken = chunks.list.iter().filter(|chunk| chunk.origin.is_some());
                pieces.extend(taken.map(|chunk| (chunk.offset, chunk.span.bytes.max(1).next_multiple_of(ALIGNMENT))));
                pieces.sort_unstable();
                let end = pieces.iter().try_fold(0, |end, &(offset, bytes)| (offset == end).then_some(offset + bytes));
                prop_assert_eq!(end, Some(2048));
            }
            for chunk in live {
                heap.free(chunk).unwrap();
            }
            prop_assert_eq!(&heap.read().free, &BTreeMap::from([(0, 2048)]));
        }
    }
}
