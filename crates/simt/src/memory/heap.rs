//! The device heap: what kernels allocate with `malloc` and free with `free`.
//!
//! The memory itself is one piece, as large as the heap may grow, and its blocks are reused at once. The addresses that
//! kernels see are never reused: each block has its own, with a gap after it. So a stray or stale pointer is
//! recognized, as in the rest of device memory. A new block counts as unwritten and not accessed, whatever was there
//! before; `free` counts as a write, so it races with accesses that nothing orders before it.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::error::LARGEST_ALLOCATION;
use super::{AccessFaultKind, AllocationSpan, GLOBAL_BASE, Located, MemoryError, Shape, Written};
use crate::Site;
use crate::memory::FreeFault;

/// The default size of a device's heap, in bytes, as in CUDA.
pub const DEFAULT_HEAP_LIMIT: u64 = 8 << 20;

/// Where blocks start. They end where other allocations start.
const BASE: u64 = 0x6800_0000_0000;
/// Blocks start at multiples of this.
const ALIGNMENT: u64 = 16;
/// Bytes between two blocks, at least.
const GAP: u64 = 4096;
/// How many freed blocks are remembered, so that a use after free is recognised.
const REMEMBERED: usize = 1 << 20;

/// Whether an address could be one of the heap.
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
    /// In a launch that has ended: the module, the kernel, where the call stands, the block and the thread.
    Ended { module: Arc<str>, kernel: Arc<str>, call: Arc<Site>, block: [u32; 3], thread: [u32; 3] },
}

#[derive(Clone)]
struct Block {
    span: AllocationSpan,
    /// Where it lies in the heap's memory.
    offset: u64,
    /// `None` once freed.
    origin: Option<Origin>,
}

/// The heap of a device.
pub(super) struct Heap {
    limit: u64,
    /// `None` until a program is loaded that needs it.
    words: Option<Box<[AtomicU32]>>,
    /// The bytes of the heap's memory that kernels have written since they got them.
    pub written: Written,
    blocks: RwLock<Blocks>,
}

/// The blocks of a heap.
#[derive(Clone)]
pub(super) struct Blocks {
    /// In rising order of address.
    list: Vec<Block>,
    freed: usize,
    /// The address of the next block.
    next: u64,
    /// The memory that is in no block: offset and bytes, no two of them neighbours.
    free: BTreeMap<u64, u64>,
    /// Blocks whose origin is of the launch that runs.
    running: usize,
}

impl Heap {
    pub fn new(limit: u64) -> Self {
        let blocks = Blocks { list: Vec::new(), freed: 0, next: BASE, free: BTreeMap::new(), running: 0 };
        Self { limit, words: None, written: Written::default(), blocks: RwLock::new(blocks) }
    }

    /// The most bytes that it can have.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether its memory is allocated.
    pub fn is_reserved(&self) -> bool {
        self.words.is_some()
    }

    /// Allocates its memory.
    pub fn reserve(&mut self) -> Result<(), MemoryError> {
        // Whole units of allocation: the last bytes of a smaller one could never be used.
        let bytes = self.limit / ALIGNMENT * ALIGNMENT;
        let words = bytemuck::try_zeroed_slice_box((bytes / 4) as usize)
            .map_err(|()| MemoryError::HostOutOfMemory { requested: bytes })?;
        self.words = Some(words);
        self.written = Written::new(bytes);
        let blocks = self.blocks.get_mut().unwrap_or_else(PoisonError::into_inner);
        blocks.free = if bytes > 0 { BTreeMap::from([(0, bytes)]) } else { BTreeMap::new() };
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, Blocks> {
        self.blocks.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Blocks> {
        self.blocks.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of its memory.
    pub fn memory(&self) -> Option<&[AtomicU32]> {
        self.words.as_deref()
    }

    /// Its blocks.
    pub fn blocks(&self) -> Blocks {
        self.read().clone()
    }

    /// Restores these blocks. What is written in them is unknown.
    pub fn restore(&self, blocks: &Blocks) {
        self.write().clone_from(blocks);
        self.written.mark_all();
    }

    /// Allocates a block of this many bytes, if there is room.
    pub fn allocate(&self, bytes: u64, caller: Caller) -> Option<u64> {
        self.write().allocate(bytes, caller)
    }

    /// Frees the block at an address.
    pub fn free(&self, address: u64) -> Result<(), FreeFault> {
        self.write().free(address)
    }

    /// The words of the block that all active lanes access, and where in it they start.
    #[cold]
    #[inline(never)]
    pub fn words_of(&self, shape: &Shape, lowest: u64) -> Option<(&[AtomicU32], u32)> {
        let (span, offset) = self.live(lowest)?;
        let start = shape.start_within(lowest, span.address, span.bytes)?;
        Some((self.words_at(span, offset)?, start))
    }

    /// The words of the live block that an address is in, and the address's offset in them, in bytes.
    pub fn words(&self, address: u64) -> Option<(&[AtomicU32], usize)> {
        let (span, offset) = self.live(address)?;
        Some((self.words_at(span, offset)?, (address - span.address) as usize))
    }

    fn words_at(&self, span: AllocationSpan, offset: u64) -> Option<&[AtomicU32]> {
        self.memory()?.get((offset / 4) as usize..((offset + span.bytes).div_ceil(4)) as usize)
    }

    /// The live block that an address is in, and where it lies in the heap's memory.
    fn live(&self, address: u64) -> Option<(AllocationSpan, u64)> {
        let blocks = self.read();
        let block = &blocks.list[blocks.at_or_below(address)?];
        let inside = address - block.span.address < block.span.bytes;
        (inside && block.origin.is_some()).then_some((block.span, block.offset))
    }

    /// The live block that an address is in; `index` is the number that the heap has among the allocations.
    pub fn locate(&self, address: u64, index: usize) -> Option<Located> {
        let (span, offset) = self.live(address)?;
        Some(Located { index, span, base: span.address.wrapping_sub(offset) })
    }

    /// Whether a thread may access `width` bytes at `address`.
    pub fn check(&self, address: u64, width: u32) -> Result<(), AccessFaultKind> {
        let blocks = self.read();
        let found = blocks.at_or_below(address).map(|index| &blocks.list[index]).filter(|block| {
            let end = (address - block.span.address).checked_add(width.into());
            end.is_some_and(|end| end <= block.span.bytes)
        });
        match found {
            None => Err(match blocks.nearest(address) {
                Some(Block { origin: None, span, .. }) => AccessFaultKind::Freed { allocation: *span },
                nearest => AccessFaultKind::OutOfBounds { nearest: nearest.map(|nearest| nearest.span) },
            }),
            Some(Block { origin: None, span, .. }) => Err(AccessFaultKind::Freed { allocation: *span }),
            Some(_) if !address.is_multiple_of(width.into()) => Err(AccessFaultKind::Misaligned { width }),
            Some(_) => Ok(()),
        }
    }

    /// A launch has ended: `report` resolves the numbers of a caller: the call, the block and the thread.
    pub fn settle(
        &self,
        module: &str,
        kernel: &str,
        mut report: impl FnMut(Caller) -> (Arc<Site>, [u32; 3], [u32; 3]),
    ) {
        let mut blocks = self.write();
        if std::mem::take(&mut blocks.running) == 0 {
            return;
        }
        let (module, kernel): (Arc<str>, Arc<str>) = (module.into(), kernel.into());
        for origin in blocks.list.iter_mut().filter_map(|block| block.origin.as_mut()) {
            if let Origin::Running(caller) = *origin {
                let (call, block, thread) = report(caller);
                *origin = Origin::Ended { module: module.clone(), kernel: kernel.clone(), call, block, thread };
            }
        }
    }

    /// The live blocks that launches have left, in order of allocation.
    pub fn allocations(&self) -> Vec<HeapAllocation> {
        let blocks = self.read();
        let ended = blocks.list.iter().filter_map(|Block { span, origin, .. }| match origin.as_ref()? {
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

impl Blocks {
    /// The last block that starts at or below `address`.
    fn at_or_below(&self, address: u64) -> Option<usize> {
        self.list.partition_point(|block| block.span.address <= address).checked_sub(1)
    }

    /// The block whose first or last byte is nearest: a live one, or a freed one at most the distance between blocks away.
    fn nearest(&self, address: u64) -> Option<&Block> {
        let (below, above) = self.list.split_at(self.list.partition_point(|block| block.span.address <= address));
        let counts = |block: &&Block| block.origin.is_some() || block.span.distance(address) < GAP;
        let candidates = [below.iter().rev().find(counts), above.iter().find(counts)];
        let by_distance = |block: &&Block| (block.span.distance(address), block.origin.is_none());
        candidates.into_iter().flatten().min_by_key(by_distance)
    }

    fn allocate(&mut self, bytes: u64, caller: Caller) -> Option<u64> {
        if bytes > LARGEST_ALLOCATION {
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
        self.list.push(Block { span, offset, origin: Some(Origin::Running(caller)) });
        self.running += 1;
        Some(address)
    }

    fn free(&mut self, address: u64) -> Result<(), FreeFault> {
        let Some(index) = self.at_or_below(address) else { return Err(FreeFault::NotAllocated) };
        let Block { span, offset, ref mut origin } = self.list[index];
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

    /// Forgets the older half of the freed blocks.
    fn forget(&mut self) {
        let mut surplus = self.freed / 2;
        self.freed -= surplus;
        self.list.retain(|block| {
            let forgotten = block.origin.is_none() && surplus > 0;
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
        let blocks: Vec<u64> = (0..4).map(|_| heap.allocate(256, CALLER).unwrap()).collect();
        assert_eq!(heap.allocate(1, CALLER), None);
        // Two free blocks that are not neighbours have no room for a block as large as both.
        heap.free(blocks[0]).unwrap();
        heap.free(blocks[2]).unwrap();
        assert_eq!(heap.allocate(512, CALLER), None);
        heap.free(blocks[1]).unwrap();
        let again = heap.allocate(768, CALLER).unwrap();
        assert!(blocks.iter().all(|&block| again > block));
        assert_eq!(heap.check(blocks[1], 4).unwrap_err().name(), "use_after_free");
    }

    #[test]
    fn only_what_malloc_gave_can_be_freed() {
        let heap = heap(1024);
        let block = heap.allocate(40, CALLER).unwrap();
        let allocation = AllocationSpan { address: block, bytes: 40 };
        assert_eq!(heap.free(block + 8).unwrap_err(), FreeFault::Inside { allocation });
        assert_eq!(heap.free(block + 40).unwrap_err(), FreeFault::NotAllocated);
        assert_eq!(heap.free(block - 16).unwrap_err(), FreeFault::NotAllocated);
        heap.free(block).unwrap();
        assert_eq!(heap.free(block).unwrap_err(), FreeFault::Freed { allocation });
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
        /// No two live blocks share a byte of the memory, and when all are freed it is one piece again.
        #[test]
        fn blocks_do_not_overlap(steps in prop::collection::vec((any::<bool>(), 0u64..300, any::<prop::sample::Index>()), 0..60)) {
            let heap = heap(2048);
            let mut live: Vec<u64> = Vec::new();
            for (allocates, bytes, which) in steps {
                if allocates {
                    live.extend(heap.allocate(bytes, CALLER));
                } else if !live.is_empty() {
                    heap.free(live.swap_remove(which.index(live.len()))).unwrap();
                }
                let blocks = heap.read();
                let mut pieces: Vec<(u64, u64)> = blocks.free.iter().map(|(&offset, &bytes)| (offset, bytes)).collect();
                let taken = blocks.list.iter().filter(|block| block.origin.is_some());
                pieces.extend(taken.map(|block| (block.offset, block.span.bytes.max(1).next_multiple_of(ALIGNMENT))));
                pieces.sort_unstable();
                let end = pieces.iter().try_fold(0, |end, &(offset, bytes)| (offset == end).then_some(offset + bytes));
                prop_assert_eq!(end, Some(2048));
            }
            for block in live {
                heap.free(block).unwrap();
            }
            prop_assert_eq!(&heap.read().free, &BTreeMap::from([(0, 2048)]));
        }
    }
}
