//! A copy of memory, for launches whose effects are undone: the dry run of a launch on a model
//! (`run/dry_run.rs`), or a launch in another order, whose results are compared. (Where the sample
//! of a prediction is undone, what it writes is copied: `global/undo.rs`.) Reads, and later
//! restores, all memory that kernels can write. Lent words are their owner's, who may write them at
//! any time: a launch that is undone has a copy of them instead (`global/lent.rs`).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::global::Memory;
use super::heap::Chunks;
use crate::address::AllocationSpan;

/// Words of a page.
pub(super) const PAGE: usize = 1024;

/// A copy of all memory that kernels can write: [`Memory::snapshot`].
pub struct Snapshot {
    /// By the number of the allocation, then the heap; empty for freed and read-only ones.
    allocations: Vec<Vec<u32>>,
    heap: Chunks,
}

/// A copy of words. Pages of zeroes are not written, so the operating system commits no memory for
/// what nobody has used.
pub(super) fn copy(words: &[AtomicU32]) -> Option<Vec<u32>> {
    let mut copy: Vec<u32> = bytemuck::try_zeroed_vec(words.len()).ok()?;
    for (copy, words) in copy.chunks_mut(PAGE).zip(words.chunks(PAGE)) {
        if words.iter().fold(0, |all, word| all | word.load(Relaxed)) != 0 {
            copy.iter_mut().zip(words).for_each(|(copy, word)| *copy = word.load(Relaxed));
        }
    }
    Some(copy)
}

/// Makes words what they were, without a write to those that are.
pub(super) fn restore(words: &[AtomicU32], before: &[u32]) {
    for (word, &it) in words.iter().zip(before).filter(|(word, it)| word.load(Relaxed) != **it) {
        word.store(it, Relaxed);
    }
}

impl Memory {
    /// Copies the contents of memory, if the host has room for the copy.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.lent().flatten().try_for_each(|lent| lent.reserve())?;
        let allocations = self.writable().map(|words| copy(words.unwrap_or_default())).collect::<Option<_>>()?;
        Some(Snapshot { allocations, heap: self.heap_chunks() })
    }

    /// Restores the contents, of memory in which nothing was allocated or freed since, after
    /// launches that are undone. Lent words are shared again, and hold what they hold. Which bytes
    /// count as written is not restored: a launch that is undone runs again.
    pub fn restore(&self, snapshot: &Snapshot) {
        self.restore_heap(&snapshot.heap);
        for ((words, lent), before) in self.writable().zip(self.lent()).zip(&snapshot.allocations) {
            match lent {
                Some(lent) => lent.set_apart(None),
                None => restore(words.unwrap_or_default(), before),
            }
        }
    }

    /// The same for a launch that is to be undone by [`restore`](Self::restore): until then
    /// kernels, [`snapshot`](Self::snapshot) and [`first_difference`](Self::first_difference) see
    /// a copy of lent words, which holds what the snapshot does.
    pub fn rewind(&self, snapshot: &Snapshot) {
        self.restore(snapshot);
        for (lent, before) in self.lent().zip(&snapshot.allocations) {
            lent.into_iter().for_each(|lent| lent.set_apart(Some(before)));
        }
    }

    /// The first word of an allocation that differs from what it was when the copy was made: the
    /// allocation, the word's address, what it was, and what it is. `same` says whether two aligned
    /// pairs of words count as the same that differ. What kernels have allocated is not compared.
    pub fn first_difference(
        &self,
        before: &Snapshot,
        same: impl Fn([u32; 2], [u32; 2]) -> bool,
    ) -> Option<(AllocationSpan, u64, [u32; 2])> {
        let mut all = self.spans().zip(self.writable().zip(&before.allocations));
        all.find_map(|(span, (words, before))| {
            let mut pairs = before.chunks(2).zip(words.unwrap_or_default().chunks(2)).enumerate();
            pairs.find_map(|(index, (before, now))| {
                let pair = |word: &dyn Fn(usize) -> Option<u32>| [0, 1].map(|index| word(index).unwrap_or(0));
                let now = pair(&|index| now.get(index).map(|word: &AtomicU32| word.load(Relaxed)));
                let before = pair(&|index| before.get(index).copied());
                let word = usize::from(before[0] == now[0]);
                (before != now && !same(before, now))
                    .then(|| (span, span.address + 4 * (2 * index + word) as u64, [before[word], now[word]]))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use crate::Memory;
    use crate::address::Access;
    use crate::memory::heap::Caller;

    /// The owner of lent words may write them at any time.
    #[test]
    fn launches_that_are_undone_leave_lent_words_alone() {
        static WORDS: [AtomicU32; 3] = [const { AtomicU32::new(1) }; 3];
        let held = || WORDS.each_ref().map(|word| word.load(Relaxed));
        let mut memory = Memory::new(1 << 20);
        let (own, address) = (memory.allocate(4).unwrap(), memory.allocate(9).unwrap());
        assert!(!memory.has_lent());
        memory.lend(address, &WORDS).unwrap();
        assert!(memory.has_lent());
        let store = |at: u64, value| memory.store_each(&Access::new(1, &[at; 32], 4), &[[value; 32]]).unwrap();
        let values = || [own, address, address + 4].map(|at| memory.value(at, 4));
        let before = memory.snapshot().unwrap();
        store(own, 5);
        store(address, 5);
        let after = memory.snapshot().unwrap();
        memory.rewind(&before);
        assert_eq!(values(), [0, 1, 1]);
        store(own, 6);
        store(address + 4, 6);
        WORDS[2].store(9, Relaxed);
        assert_eq!((values(), held()), ([6, 1, 6], [5, 1, 9]));
        let (span, ..) = memory.first_difference(&before, |_, now| now == [6, 0]).unwrap();
        assert_eq!((span.address, memory.value(address + 8, 1)), (address, 1));
        memory.restore(&after);
        assert_eq!((values(), held()), ([5, 5, 1], [5, 1, 9]));
    }

    #[test]
    fn all_that_kernels_can_write_comes_back() {
        let mut memory = Memory::new(1 << 20);
        memory.set_heap_limit(1024).unwrap();
        let addresses = [10, 100, 1000].map(|bytes| memory.allocate(bytes).unwrap());
        let constant = memory.allocate_constant(12).unwrap();
        memory.write(constant, &[7; 12]).unwrap();
        memory.free(addresses[1]).unwrap();
        memory.write(addresses[0], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).unwrap();
        memory.reserve_heap().unwrap();
        let caller = Caller { place: 0, block: 0, thread: 0 };
        let block = memory.heap_allocate(8, caller).unwrap();
        memory.store_each(&Access::new(1, &[block; 32], 4), &[[5; 32]]).unwrap();
        let before = memory.snapshot().unwrap();
        let later = memory.heap_allocate(8, caller).unwrap();
        memory.store_each(&Access::new(1, &[block; 32], 4), &[[6; 32]]).unwrap();
        memory.heap_free(block).unwrap();
        for address in [addresses[0] + 4, addresses[2] + 996] {
            memory.store_each(&Access::new(1, &[address; 32], 4), &[[9; 32]]).unwrap();
        }
        let (span, address, words) = memory.first_difference(&before, |_, _| false).unwrap();
        assert_eq!((span.address, span.bytes, address, words), (addresses[0], 10, addresses[0] + 4, [0x0807_0605, 9]));
        let (span, address, words) = memory.first_difference(&before, |before, _| before != [0, 0]).unwrap();
        assert_eq!((span.bytes, address, words), (1000, addresses[2] + 996, [0, 9]));
        memory.restore(&before);
        assert!(memory.first_difference(&before, |_, _| false).is_none());
        assert_eq!(memory.value(block, 4), 5);
        assert_eq!(memory.heap_allocate(8, caller), Some(later));
        let mut bytes = [0; 10];
        memory.read(addresses[0], &mut bytes).unwrap();
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        let mut bytes = [1; 1000];
        memory.read(addresses[2], &mut bytes).unwrap();
        assert_eq!(bytes, [0; 1000]);
        let mut bytes = [0; 12];
        memory.read(constant, &mut bytes).unwrap();
        assert_eq!(bytes, [7; 12]);
    }
}
