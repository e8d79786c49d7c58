//! A copy of memory, for launches whose effects are undone: the rehearsal of a launch on a model
//! (`run/rehearsal.rs`). Reads, and later restores, all memory that kernels can write.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::global::Memory;
use super::heap::Chunks;

/// The contents of each allocation that kernels can write.
pub(crate) struct Snapshot {
    /// By the number of the allocation, then the heap; empty for freed and read-only ones.
    allocations: Vec<Vec<u32>>,
    heap: Chunks,
}

impl Memory {
    /// Copies the contents of memory, if the host has room for the copy.
    pub(crate) fn snapshot(&self) -> Option<Snapshot> {
        let copy = |words: Option<&[AtomicU32]>| {
            let words = words.unwrap_or_default();
            let mut copy = Vec::new();
            copy.try_reserve_exact(words.len()).ok()?;
            copy.extend(words.iter().map(|word| word.load(Relaxed)));
            Some(copy)
        };
        let allocations = self.writable().map(copy).collect::<Option<_>>()?;
        Some(Snapshot { allocations, heap: self.heap_chunks() })
    }

    /// Restores the contents. Which bytes count as written is not restored: a launch that is undone
    /// runs again.
    pub(crate) fn restore(&self, snapshot: &Snapshot) {
        self.restore_heap(&snapshot.heap);
        for (words, before) in self.writable().zip(&snapshot.allocations) {
            for (word, &before) in words.unwrap_or_default().iter().zip(before) {
                word.store(before, Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Memory;
    use crate::address::Access;
    use crate::memory::heap::Caller;

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
        memory.restore(&before);
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
