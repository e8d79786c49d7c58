//! Memory that the host maps: bytes that exist without an address ([`Physical`]) come to addresses
//! that were reserved, and go from there with their contents. While memory is mapped without
//! access, the bytes are still the caller's, and an access is a fault.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{Allocation, Kept, Memory, Words, zeroed_words};
use crate::address::AllocationSpan;
use crate::error::MemoryError;
use crate::memory::written::Written;

/// Bytes of a page of the host.
const PAGE: u64 = 4096;

/// Memory of a device without an address: [`Memory::create`].
pub struct Physical {
    bytes: u64,
    words: Words,
    written: Written,
}

impl Physical {
    /// How many bytes there are.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Cuts memory anew that consists of these parts, one after the other: into parts of so many
    /// bytes. All are multiples of 4096 bytes, and as many bytes before and after; if not, or if
    /// the host has no room for a copy, the parts come back as they are.
    pub fn cut(parts: Vec<Self>, sizes: &[u64]) -> Result<Vec<Self>, Vec<Self>> {
        let before = parts.iter().map(|part| part.bytes);
        let fits = before.clone().sum::<u64>() == sizes.iter().sum()
            && before.chain(sizes.iter().copied()).all(|bytes| bytes.is_multiple_of(PAGE));
        let zeroed = |&bytes: &u64| bytemuck::try_zeroed_slice_box((bytes / 4) as usize).ok();
        let made: Option<Vec<Box<[AtomicU32]>>> = sizes.iter().filter(|_| fits).map(zeroed).collect();
        let Some(mut made) = made.filter(|_| fits) else { return Err(parts) };
        let pages = parts.iter().flat_map(|part| part.words.chunks(PAGE as usize / 4));
        for (to, from) in made.iter_mut().flat_map(|words| words.chunks_mut(PAGE as usize / 4)).zip(pages) {
            // The operating system commits no memory for pages that nobody has used.
            if from.iter().fold(0, |all, word| all | word.load(Relaxed)) != 0 {
                to.iter_mut().zip(from).for_each(|(to, from)| *to.get_mut() = from.load(Relaxed));
            }
        }
        let mut start = 0;
        let parts = made.into_iter().zip(sizes).map(|(words, &bytes)| {
            let (written, mut at) = (Written::new(bytes), 0);
            for part in &parts {
                let (from, end) = (start.max(at), (start + bytes).min(at + part.bytes));
                if from < end {
                    written.copy(from - start, &part.written, from - at, end - from);
                }
                at += part.bytes;
            }
            if written.has(0, bytes) {
                written.mark_all();
            }
            start += bytes;
            Self { bytes, words: Words::Own(words), written }
        });
        Ok(parts.collect())
    }
}

impl Memory {
    /// Reserves addresses, from a multiple of `alignment` on, at which nothing else will be.
    pub fn reserve(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        self.addresses.take(bytes, alignment)
    }

    /// Gives back so many addresses, of which none is mapped, that [`Memory::reserve`] gave.
    pub fn give_back(&mut self, address: u64, bytes: u64) {
        self.addresses.give_back(address, bytes);
    }

    /// Makes zeroed memory, which counts as used until [`Memory::destroy`] takes it.
    pub fn create(&mut self, bytes: u64) -> Result<Physical, MemoryError> {
        self.check_room(bytes)?;
        let words = zeroed_words(bytes)?;
        self.used += bytes;
        Ok(Physical { bytes, words, written: Written::new(bytes) })
    }

    /// Ends memory that is mapped nowhere.
    pub fn destroy(&mut self, physical: Physical) {
        self.used -= physical.bytes;
    }

    /// Maps so many bytes without access, at addresses that were reserved and where nothing is
    /// mapped.
    pub fn map(&mut self, address: u64, bytes: u64) -> Result<(), MemoryError> {
        let end = address.checked_add(bytes).filter(|&end| self.has_given(address) && self.has_given(end - 1));
        let is_taken = |end: u64| {
            let first = self.allocations.partition_point(|it| it.span.address + it.span.bytes <= address);
            self.allocations.get(first).is_some_and(|it| it.span.address < end)
        };
        let Some(end) = end.filter(|&end| !is_taken(end)) else {
            return Err(MemoryError::NotAllocated { address, bytes });
        };
        // What was mapped there before.
        self.addresses.forget(address..end);
        let span = AllocationSpan { address, bytes };
        let (written, kept) = (Written::new(bytes), Kept::default());
        self.add(Allocation { span, words: None, read_only: false, written, kept });
        Ok(())
    }

    /// Gives access to what is mapped at an address without it: these bytes, of which there are as
    /// many.
    pub fn give_access(&mut self, address: u64, physical: Physical, read_only: bool) -> Result<(), Physical> {
        let Some(mapped) = self.mapped(address).filter(|it| it.words.is_none() && it.span.bytes == physical.bytes)
        else {
            return Err(physical);
        };
        mapped.words = Some(physical.words);
        (mapped.written, mapped.read_only) = (physical.written, read_only);
        Ok(())
    }

    /// Takes the bytes that are mapped at an address, which stays mapped without access.
    pub fn take_access(&mut self, address: u64) -> Option<Physical> {
        let mapped = self.mapped(address)?;
        let words = mapped.words.take()?;
        let bytes = mapped.span.bytes;
        Some(Physical { bytes, words, written: std::mem::take(&mut mapped.written) })
    }

    /// Ends a mapping without access: from then on accesses are to memory that was freed.
    pub fn unmap(&mut self, address: u64) {
        if let Some(index) = self.starting_at(address).filter(|&index| self.allocations[index].words.is_none()) {
            let Allocation { span, .. } = self.allocations.remove(index);
            self.addresses.remember(span);
        }
    }

    fn mapped(&mut self, address: u64) -> Option<&mut Allocation> {
        let index = self.starting_at(address)?;
        self.allocations.get_mut(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::AccessFaultKind;

    const PART: u64 = 1 << 21;

    #[test]
    fn bytes_go_from_one_address_to_another() {
        let mut memory = Memory::new(4 * PART);
        let base = memory.reserve(2 * PART, PART).unwrap();
        assert_eq!((base % PART, memory.used()), (0, 0));
        let kind = |memory: &Memory, address| memory.check(address, 4, true).unwrap_err();
        assert!(matches!(kind(&memory, base), AccessFaultKind::OutOfBounds { .. }));
        let physical = memory.create(PART).unwrap();
        assert_eq!((memory.used(), physical.bytes()), (PART, PART));
        memory.map(base, PART).unwrap();
        assert!(matches!(kind(&memory, base), AccessFaultKind::NoAccess { .. }));
        assert!(memory.write(base, &[1]).is_err() && memory.map(base + PART / 2, PART).is_err());
        assert!(memory.give_access(base, physical, false).is_ok());
        memory.write(base + 8, &[1, 2, 3, 4]).unwrap();
        let physical = memory.take_access(base).unwrap();
        assert!(memory.take_access(base).is_none());
        assert!(matches!(kind(&memory, base), AccessFaultKind::NoAccess { .. }));
        memory.unmap(base);
        assert!(matches!(kind(&memory, base), AccessFaultKind::Freed { .. }));
        // Elsewhere, with what it holds; to be read alone.
        memory.map(base + PART, PART).unwrap();
        assert!(memory.give_access(base + PART, physical, true).is_ok());
        assert!(matches!(kind(&memory, base + PART), AccessFaultKind::ReadOnly { .. }));
        let mut bytes = [0; 4];
        memory.read(base + PART + 8, &mut bytes).unwrap();
        assert_eq!(bytes, [1, 2, 3, 4]);
        let physical = memory.take_access(base + PART).unwrap();
        memory.destroy(physical);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn memory_is_cut_and_joined_with_what_it_holds() {
        let mut memory = Memory::new(4 * PART);
        let base = memory.reserve(4 * PART, PART).unwrap();
        let all = memory.create(4 * PART).unwrap();
        memory.map(base, 4 * PART).unwrap();
        assert!(memory.give_access(base, all, false).is_ok());
        memory.write(base + PART - 2, &[1, 2, 3, 4]).unwrap();
        memory.fill(base + 2 * PART, 2 * PART, 5).unwrap();
        let all = memory.take_access(base).unwrap();
        memory.unmap(base);
        let parts = Physical::cut(vec![all], &[PART, PART, 2 * PART]).ok().unwrap();
        assert_eq!(parts.iter().map(Physical::bytes).collect::<Vec<_>>(), [PART, PART, 2 * PART]);
        let written = |physical: &Physical, at| physical.written.has(at, 2);
        assert_eq!([PART - 4, PART - 2].map(|at| written(&parts[0], at)), [false, true]);
        assert_eq!([0, 2].map(|at| written(&parts[1], at)), [true, false]);
        assert_eq!([0, 2 * PART - 2].map(|at| written(&parts[2], at)), [true, true]);
        let wrong = [vec![4 * PART + 4096], vec![4 * PART - 2048, 2048], vec![PART]];
        let parts = wrong.into_iter().fold(parts, |parts, sizes| Physical::cut(parts, &sizes).err().unwrap());
        let joined = Physical::cut(parts, &[4 * PART]).ok().unwrap().remove(0);
        let marks = [0, PART - 4, PART - 2, PART, PART + 2, 2 * PART, 4 * PART - 2].map(|at| written(&joined, at));
        assert_eq!(marks, [false, false, true, true, false, true, true]);
        memory.map(base, 4 * PART).unwrap();
        assert!(memory.give_access(base, joined, false).is_ok());
        let mut bytes = [9; 6];
        memory.read(base + PART - 3, &mut bytes).unwrap();
        assert_eq!((bytes, memory.value(base + 4 * PART - 4, 4)), ([0, 1, 2, 3, 4, 0], 0x0505_0505));
    }

    #[test]
    fn copies_cross_from_one_mapping_into_the_next() {
        let mut memory = Memory::new(4 * PART);
        let after = memory.allocate(8).unwrap();
        let base = memory.reserve(3 * PART, PART).unwrap();
        for part in [1, 0] {
            let physical = memory.create(PART).unwrap();
            memory.map(base + part * PART, PART).unwrap();
            assert!(memory.give_access(base + part * PART, physical, false).is_ok());
        }
        memory.fill(base, 2 * PART, 7).unwrap();
        memory.write(base + PART - 2, &[1, 2, 3, 4]).unwrap();
        let mut bytes = [0; 6];
        memory.read(base + PART - 3, &mut bytes).unwrap();
        assert_eq!(bytes, [7, 1, 2, 3, 4, 7]);
        // Beyond the second there is nothing, and nothing is written.
        assert!(memory.write(base + 2 * PART - 1, &[9, 9]).is_err());
        memory.read(base + 2 * PART - 1, &mut bytes[..1]).unwrap();
        assert_eq!(bytes[0], 7);
        assert!(after < base && memory.allocate(8).unwrap() > base + 3 * PART);
    }

    #[test]
    fn what_cannot_be_reserved_or_made_is_refused() {
        let mut memory = Memory::new(PART);
        assert!(memory.reserve(1 << 43, PART).is_none() && memory.reserve(u64::MAX, PART).is_none());
        assert!(memory.reserve(PART, 1 << 63).is_none());
        assert!(matches!(memory.create(2 * PART), Err(MemoryError::OutOfMemory { .. })));
        assert!(memory.map(u64::MAX - 1, 4).is_err());
    }
}
