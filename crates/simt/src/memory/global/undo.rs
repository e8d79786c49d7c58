//! Launches whose writes are undone, without a copy of all memory: while one runs, each page of an
//! allocation is copied before its first write. The heap, which few programs have, is copied as a
//! whole. Lent words are their owner's: where there are any, there is a snapshot instead.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::{Allocation, Memory};
use crate::coalesce::Shape;
use crate::memory::heap::Chunks;
use crate::memory::snapshot::{self, PAGE};

/// What a launch has changed that is to be undone.
#[derive(Default)]
pub(super) struct Undo {
    /// One such launch at a time.
    turn: Mutex<()>,
    active: AtomicBool,
    pages: Mutex<Vec<Page>>,
}

/// A page as it was.
struct Page {
    /// The number of the allocation, and that of the page in it.
    allocation: usize,
    number: usize,
    words: Box<[u32]>,
}

/// Which pages of an allocation are among those of [`Undo`]: a bit for each.
#[derive(Default)]
pub(super) struct Kept(OnceLock<Box<[AtomicU32]>>);

impl Kept {
    /// The word with the bit of a page of an allocation, and the bit.
    fn bit(&self, page: usize, words: usize) -> (&AtomicU32, u32) {
        let bits = self.0.get_or_init(|| bytemuck::zeroed_slice_box(words.div_ceil(32 * PAGE)));
        (&bits[page / 32], 1 << (page % 32))
    }
}

impl Undo {
    #[inline(always)]
    pub fn is_active(&self) -> bool {
        self.active.load(Ordering::Relaxed)
    }

    fn pages(&self) -> MutexGuard<'_, Vec<Page>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Undoes what was written while it lived.
struct Undoing<'m> {
    memory: &'m Memory,
    heap: (Vec<u32>, Chunks),
    _turn: MutexGuard<'m, ()>,
}

impl Memory {
    /// Does `work`, and then undoes what kernels have written to memory, which is not lent. Which
    /// bytes count as written is not undone. `None`: the host has no room for a copy of the heap.
    pub(crate) fn undone<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let turn = self.undo.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let heap = (snapshot::copy(self.heap.memory().unwrap_or_default())?, self.heap_chunks());
        let undoing = Undoing { memory: self, heap, _turn: turn };
        self.undo.active.store(true, Ordering::Relaxed);
        let result = work();
        drop(undoing);
        Some(result)
    }

    /// A warp is about to store to an allocation; its access starts at this byte.
    #[cold]
    #[inline(never)]
    pub(super) fn keep_lanes(&self, allocation: usize, start: u64, shape: &Shape) {
        let mut last = None;
        for lane in (0..32).filter(|lane| shape.mask() >> lane & 1 == 1) {
            let page = (start + u64::from(shape.offsets()[lane])) as usize / (4 * PAGE);
            if last.replace(page) != Some(page) {
                self.keep(allocation, page);
            }
        }
    }

    /// A page of an allocation is about to be written.
    pub(super) fn keep(&self, allocation: usize, page: usize) {
        let Allocation { words: Some(words), kept, .. } = &self.allocations[allocation] else { return };
        let (bits, bit) = kept.bit(page, words.len());
        if bits.load(Ordering::Acquire) & bit != 0 {
            return;
        }
        let mut pages = self.undo.pages();
        // Another thread may have done so meanwhile.
        if bits.load(Ordering::Acquire) & bit == 0
            && let Some(words) = words.chunks(PAGE).nth(page)
        {
            let words = words.iter().map(|word| word.load(Ordering::Relaxed)).collect();
            pages.push(Page { allocation, number: page, words });
            bits.fetch_or(bit, Ordering::Release);
        }
    }
}

impl Drop for Undoing<'_> {
    fn drop(&mut self) {
        let Self { memory, heap: (heap, chunks), .. } = self;
        memory.undo.active.store(false, Ordering::Relaxed);
        // The first last: a page that is mapped at two addresses may be there twice.
        for Page { allocation, number, words: before } in memory.undo.pages().drain(..).rev() {
            let Allocation { words: Some(words), kept, .. } = &memory.allocations[allocation] else { continue };
            let (bits, bit) = kept.bit(number, words.len());
            bits.fetch_and(!bit, Ordering::Relaxed);
            words[number * PAGE..].iter().zip(&before).for_each(|(word, &it)| word.store(it, Ordering::Relaxed));
        }
        memory.restore_heap(chunks);
        snapshot::restore(memory.heap.memory().unwrap_or_default(), heap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Access;
    use crate::memory::heap::Caller;

    const WORDS: usize = 3 * PAGE;

    fn contents(memory: &Memory, address: u64) -> Vec<u8> {
        let mut bytes = vec![0; 4 * WORDS - 2];
        memory.read(address, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn what_is_written_is_undone() {
        let mut memory = Memory::new(1 << 24);
        memory.set_heap_limit(1024).unwrap();
        let addresses = [(); 2].map(|()| memory.allocate(4 * WORDS as u64 - 2).unwrap());
        for (address, value) in addresses.into_iter().zip(1..) {
            memory.fill(address, 4 * WORDS as u64 - 2, value).unwrap();
        }
        memory.reserve_heap().unwrap();
        let caller = Caller { place: 0, block: 0, thread: 0 };
        let chunk = memory.heap_allocate(8, caller).unwrap();
        memory.atomic32(chunk, |_| 5).unwrap();
        let before = addresses.map(|address| contents(&memory, address));
        for round in 0..2 {
            let written = memory.undone(|| {
                // A row that crosses pages, lanes on three pages, the end, and atomic operations.
                let row = std::array::from_fn(|lane| addresses[0] + 4 * (PAGE as u64 - 16 + lane as u64));
                let apart = std::array::from_fn(|lane| addresses[1] + 4096 * (lane as u64 % 3));
                for row in [row, apart, [addresses[0] + 4 * WORDS as u64 - 8; 32]] {
                    memory.store_each(&Access::new(u32::MAX, &row, 4), &[[7 + round; 32]]).unwrap();
                }
                memory.atomic64(addresses[1] + 4096, |old| old + 1).unwrap();
                memory.atomic16(addresses[0] + 8190, |old| old + 1).unwrap();
                memory.atomic32(chunk, |_| 6).unwrap();
                memory.heap_free(chunk).unwrap();
                addresses.map(|address| contents(&memory, address))
            });
            assert!(written.unwrap().iter().zip(&before).all(|(written, before)| written != before));
            assert!(addresses.map(|address| contents(&memory, address)) == before);
            assert_eq!((memory.value(chunk, 4), memory.undo.pages().len()), (5, 0));
        }
        memory.atomic32(addresses[0], |_| 9).unwrap();
        assert_eq!(memory.value(addresses[0], 4), 9);
    }
}
