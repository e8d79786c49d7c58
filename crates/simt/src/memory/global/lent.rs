//! The words of an allocation: the simulator's own, those of memory that is mapped (`mapped`), or
//! words that a caller owns and has lent, such as memory of the host that a driver maps. Kernels and
//! the caller share those without copies. Only launches that are undone use a copy: nothing but a
//! launch that stays writes lent words, so that what the caller writes meanwhile is never lost.

use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use super::Memory;
use super::mapped::View;
use crate::error::MemoryError;
use crate::memory::words;

/// The words of a live allocation.
pub(super) enum Words {
    Own(Box<[AtomicU32]>),
    Mapped(View),
    Lent(Lent),
}

/// A caller's words.
pub(in crate::memory) struct Lent {
    words: &'static [AtomicU32],
    /// What kernels use instead while they are `apart`; made by the first snapshot.
    copy: OnceLock<Box<[AtomicU32]>>,
    apart: AtomicBool,
}

impl Lent {
    /// Makes the copy, if the host has room for it.
    pub fn reserve(&self) -> Option<()> {
        if self.copy.get().is_none() {
            let _ = self.copy.set(bytemuck::try_zeroed_slice_box(self.words.len()).ok()?);
        }
        Some(())
    }

    /// From now on kernels use the copy, which holds this, or again the caller's words.
    pub fn set_apart(&self, contents: Option<&[u32]>) {
        for (word, &value) in self.copy().iter().zip(contents.unwrap_or_default()) {
            // Pages that nobody has used stay so.
            if word.load(Relaxed) != value {
                word.store(value, Relaxed);
            }
        }
        self.apart.store(contents.is_some(), Relaxed);
    }

    fn copy(&self) -> &[AtomicU32] {
        self.copy.get().map_or(&[], |copy| copy)
    }
}

impl Deref for Words {
    type Target = [AtomicU32];

    #[inline(always)]
    fn deref(&self) -> &[AtomicU32] {
        match self {
            Self::Own(words) => words,
            Self::Mapped(view) => view.words(),
            Self::Lent(lent) if lent.apart.load(Relaxed) => lent.copy(),
            Self::Lent(lent) => lent.words,
        }
    }
}

impl Words {
    /// Copies bytes into the words, from an offset in bytes on.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        match self {
            Self::Own(words) => words::write(words, offset, bytes),
            Self::Mapped(view) => words::write_shared(view.words(), offset, bytes),
            Self::Lent(lent) => words::write_shared(lent.words, offset, bytes),
        }
    }

    /// Sets so many bytes, from an offset in bytes on.
    pub fn fill(&mut self, offset: usize, bytes: usize, value: u8) {
        match self {
            Self::Own(words) => words::fill(words, offset, bytes, value),
            Self::Mapped(view) => words::fill_shared(view.words(), offset, bytes, value),
            Self::Lent(lent) => words::fill_shared(lent.words, offset, bytes, value),
        }
    }
}

impl Memory {
    /// Replaces the words of the allocation that starts at `address`, until it is freed, by words
    /// that the caller shares with kernels. There are as many, and all their bytes count as
    /// written.
    pub fn lend(&mut self, address: u64, words: &'static [AtomicU32]) -> Result<(), MemoryError> {
        let bytes = 4 * words.len() as u64;
        let allocation = self.starting_at(address).map(|index| &mut self.allocations[index]);
        let fits = |it: &&mut super::Allocation| {
            it.mapped.is_none() && it.words.as_deref().is_some_and(|own| own.len() == words.len())
        };
        let allocation = allocation.filter(fits).ok_or(MemoryError::NotAllocated { address, bytes })?;
        let lent = Lent { words, copy: OnceLock::new(), apart: AtomicBool::new(false) };
        allocation.words = Some(Words::Lent(lent));
        allocation.written.mark_all();
        Ok(())
    }

    /// Whether any words are lent.
    pub fn has_lent(&self) -> bool {
        self.lent().any(|lent| lent.is_some())
    }

    /// The lent words of each allocation that has such and that kernels can write, then none of the
    /// heap: as many as of `writable`.
    pub(in crate::memory) fn lent(&self) -> impl Iterator<Item = Option<&Lent>> {
        let lent = self.allocations.iter().map(|it| match &it.words {
            Some(Words::Lent(lent)) if !it.read_only => Some(lent),
            _ => None,
        });
        lent.chain([None])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Access;

    #[test]
    fn kernels_and_the_caller_share_lent_words() {
        static WORDS: [AtomicU32; 33] = [const { AtomicU32::new(7) }; 33];
        let mut memory = Memory::new(1 << 20);
        let address = memory.allocate(130).unwrap();
        assert!(memory.lend(address, &WORDS[1..]).is_err() && memory.lend(address + 4, &WORDS).is_err());
        assert!(memory.unwritten(address, 1, 130).iter().any(|&unwritten| unwritten));
        memory.lend(address, &WORDS).unwrap();
        assert!(memory.unwritten(address, 1, 130).iter().all(|&unwritten| !unwritten));
        assert_eq!(memory.value(address + 128, 2), 7);
        memory.store_each(&Access::new(1, &[address + 4; 32], 4), &[[5; 32]]).unwrap();
        memory.write(address + 7, &[1, 2, 3]).unwrap();
        memory.fill(address + 126, 4, 9).unwrap();
        let held = |index: usize| WORDS[index].load(Relaxed);
        assert_eq!([held(0), held(1), held(2), held(31), held(32)], [7, 0x0100_0005, 0x0302, 0x0909_0007, 0x0909]);
        WORDS[3].store(11, Relaxed);
        let mut read = [0; 4];
        memory.read(address + 12, &mut read).unwrap();
        assert_eq!(read, [11, 0, 0, 0]);
        memory.free(address).unwrap();
        assert!(memory.lend(address, &WORDS).is_err());
        assert_eq!((held(3), memory.used()), (11, 0));
    }
}
