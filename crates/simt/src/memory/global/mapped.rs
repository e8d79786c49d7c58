//! Memory that the host maps: bytes without an address ([`Physical`]) that have addresses where they
//! are mapped, whole or in parts, at one address or several. While memory is mapped without access,
//! an access is a fault.
//!
//! All mappings of the same bytes share their words, and what the sanitizer knows of them: it has
//! one name for each byte ([`Memory::locate`]), so an access at one address races with one at
//! another. (Copies under way beside the threads are known by their addresses: an access to their
//! bytes at another address counts only once they have ended.)
//! A model's caches go by addresses.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use super::{Allocation, Kept, Memory, Words, zeroed_words};
use crate::address::AllocationSpan;
use crate::error::MemoryError;
use crate::memory::written::Written;

/// Mappings begin at multiples of so many bytes of the memory, and are as long.
const PAGE: u64 = 4096;

/// Memory of a device that has the addresses at which it is mapped: [`Memory::create`].
#[derive(Debug)]
pub struct Physical {
    number: usize,
    bytes: u64,
}

impl Physical {
    /// How many bytes there are.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The bytes of a [`Physical`].
struct Bytes {
    number: usize,
    words: Box<[AtomicU32]>,
    written: Written,
}

/// All that can be mapped, by number, and whether there is a [`Physical`] of it.
#[derive(Default)]
pub(super) struct Mappable {
    all: Vec<Option<(Arc<Bytes>, bool)>>,
    unused: Vec<usize>,
}

impl Mappable {
    /// Ends bytes that have neither a [`Physical`] nor a mapping any more. While they are mapped, no
    /// other memory gets their number.
    fn end_if_unused(&mut self, number: usize) {
        let is_unused = |(bytes, is_held): &mut (Arc<Bytes>, bool)| !*is_held && Arc::strong_count(bytes) == 1;
        if self.all.get_mut(number).and_then(|place| place.take_if(is_unused)).is_some() {
            self.unused.push(number);
        }
    }

    /// Which bytes have been written.
    pub fn written(&self, number: usize) -> Option<&Written> {
        self.all.get(number)?.as_ref().map(|(bytes, _)| &bytes.written)
    }
}

/// What a mapping shows.
#[derive(Clone)]
pub(super) struct View {
    of: Arc<Bytes>,
    first: usize,
    words: usize,
}

impl View {
    #[inline(always)]
    pub fn words(&self) -> &[AtomicU32] {
        &self.of.words[self.first..self.first + self.words]
    }

    /// The number of what is mapped.
    pub fn number(&self) -> usize {
        self.of.number
    }

    /// Where in it the mapping begins, in bytes.
    pub fn start(&self) -> u64 {
        4 * self.first as u64
    }

    /// Which bytes of what is mapped have been written, and where among them the mapping begins.
    pub fn written(&self) -> (&Written, u64) {
        (&self.of.written, self.start())
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
        let Mappable { all, unused } = &mut self.mappable;
        let number = unused.pop().unwrap_or(all.len());
        all.resize(all.len().max(number + 1), None);
        all[number] = Some((Arc::new(Bytes { number, words, written: Written::new(bytes) }), true));
        Ok(Physical { number, bytes })
    }

    /// Ends memory. What is mapped stays until it is unmapped.
    pub fn destroy(&mut self, Physical { number, bytes }: Physical) {
        self.used -= bytes;
        if let Some(Some((_, is_held))) = self.mappable.all.get_mut(number) {
            *is_held = false;
        }
        self.mappable.end_if_unused(number);
    }

    /// Maps so many bytes of memory without access, from an offset in it on, at addresses that were
    /// reserved and where nothing is mapped.
    pub fn map(&mut self, address: u64, bytes: u64, of: &Physical, offset: u64) -> Result<(), MemoryError> {
        let end = address.checked_add(bytes).filter(|&end| self.has_given(address) && self.has_given(end - 1));
        let is_taken = |end: u64| {
            let first = self.allocations.partition_point(|it| it.span.address + it.span.bytes <= address);
            self.allocations.get(first).is_some_and(|it| it.span.address < end)
        };
        let fits = [offset, bytes].iter().all(|it| it.is_multiple_of(PAGE))
            && offset.checked_add(bytes).is_some_and(|end| end <= of.bytes);
        let of = self.mappable.all.get(of.number).and_then(Option::as_ref).filter(|_| fits);
        let (Some(end), Some((of, _))) = (end.filter(|&end| !is_taken(end)), of) else {
            return Err(MemoryError::NotAllocated { address, bytes });
        };
        // What was mapped there before.
        self.addresses.forget(address..end);
        let span = AllocationSpan { address, bytes };
        let mapped = Some(View { of: of.clone(), first: (offset / 4) as usize, words: (bytes / 4) as usize });
        let (written, kept) = (Written::default(), Kept::default());
        self.add(Allocation { span, words: None, mapped, read_only: false, written, kept });
        Ok(())
    }

    /// Gives access to what is mapped at an address.
    pub fn give_access(&mut self, address: u64, read_only: bool) -> Result<(), MemoryError> {
        let mapped = self.mapped(address)?;
        mapped.words = mapped.mapped.clone().map(Words::Mapped);
        mapped.read_only = read_only;
        Ok(())
    }

    /// Takes the access to what is mapped at an address.
    pub fn take_access(&mut self, address: u64) -> Result<(), MemoryError> {
        self.mapped(address)?.words = None;
        Ok(())
    }

    /// Ends the mapping that begins at an address: from then on accesses are to memory that was
    /// freed.
    pub fn unmap(&mut self, address: u64) -> Result<(), MemoryError> {
        self.mapped(address)?;
        if let Some(index) = self.starting_at(address) {
            let Allocation { span, words, mapped, .. } = self.allocations.remove(index);
            self.addresses.remember(span);
            let number = mapped.as_ref().map(View::number);
            drop((words, mapped));
            number.into_iter().for_each(|number| self.mappable.end_if_unused(number));
        }
        Ok(())
    }

    /// The mapping that begins at an address.
    fn mapped(&mut self, address: u64) -> Result<&mut Allocation, MemoryError> {
        let mapped = self.starting_at(address).map(|index| &mut self.allocations[index]);
        mapped.filter(|it| it.mapped.is_some()).ok_or(MemoryError::NotAllocated { address, bytes: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{Access, AccessFaultKind};

    const PART: u64 = 1 << 21;

    /// So many bytes, from an offset on, mapped at an address with access.
    fn map(memory: &mut Memory, address: u64, bytes: u64, of: &Physical, offset: u64) {
        memory.map(address, bytes, of, offset).unwrap();
        memory.give_access(address, false).unwrap();
    }

    fn held<const BYTES: usize>(memory: &Memory, address: u64) -> [u8; BYTES] {
        let mut bytes = [9; BYTES];
        memory.read(address, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn bytes_go_from_one_address_to_another() {
        let mut memory = Memory::new(4 * PART);
        let base = memory.reserve(2 * PART, PART).unwrap();
        assert_eq!((base % PART, memory.used()), (0, 0));
        let kind = |memory: &Memory, address| memory.check(address, 4, true).unwrap_err();
        assert!(matches!(kind(&memory, base), AccessFaultKind::OutOfBounds { .. }));
        let physical = memory.create(PART).unwrap();
        assert_eq!((memory.used(), physical.bytes()), (PART, PART));
        memory.map(base, PART, &physical, 0).unwrap();
        assert!(matches!(kind(&memory, base), AccessFaultKind::NoAccess { .. }));
        assert!(memory.write(base, &[1]).is_err() && memory.map(base + PART / 2, PART, &physical, 0).is_err());
        memory.give_access(base, false).unwrap();
        memory.write(base + 8, &[1, 2, 3, 4]).unwrap();
        assert!(memory.free(base).is_err());
        memory.take_access(base).unwrap();
        assert!(matches!(kind(&memory, base), AccessFaultKind::NoAccess { .. }));
        memory.unmap(base).unwrap();
        assert!(matches!(kind(&memory, base), AccessFaultKind::Freed { .. }));
        // Elsewhere, with what it holds; to be read alone.
        memory.map(base + PART, PART, &physical, 0).unwrap();
        memory.give_access(base + PART, true).unwrap();
        assert!(matches!(kind(&memory, base + PART), AccessFaultKind::ReadOnly { .. }));
        assert_eq!(held(&memory, base + PART + 8), [1, 2, 3, 4]);
        memory.unmap(base + PART).unwrap();
        memory.destroy(physical);
        assert_eq!((memory.used(), memory.unmap(base + PART).is_err()), (0, true));
    }

    /// A ring: its bytes are there twice, one after the other.
    #[test]
    fn what_is_mapped_twice_is_the_same() {
        let mut memory = Memory::new(4 * PART);
        let base = memory.reserve(4 * PART, PART).unwrap();
        let ring = memory.create(2 * PART).unwrap();
        map(&mut memory, base, 2 * PART, &ring, 0);
        memory.map(base + 2 * PART, 2 * PART, &ring, 0).unwrap();
        memory.give_access(base + 2 * PART, true).unwrap();
        memory.write(base + 2 * PART - 2, &[1, 2]).unwrap();
        memory.fill(base, 3, 5).unwrap();
        assert_eq!(held(&memory, base + 2 * PART - 3), [0, 1, 2, 5, 5, 5, 0]);
        assert_eq!(held(&memory, base + 4 * PART - 3), [0, 1, 2]);
        assert!(memory.check(base + 2 * PART, 4, true).is_err() && memory.used() == 2 * PART);
        // The sanitizer's name for a byte, and what was written.
        let name = |at: u64| {
            let found = memory.locate(at, false).unwrap();
            assert!(found.span.address <= at && at - found.span.address < found.span.bytes);
            (found.index, at.wrapping_sub(found.base))
        };
        for offset in [0, 3, PART, 2 * PART - 4] {
            assert_eq!(name(base + offset), name(base + 2 * PART + offset));
            assert_eq!(name(base + offset).1, offset);
        }
        let (index, _) = name(base);
        assert!(index > memory.allocations().count());
        let written = memory.written(index).unwrap();
        assert!(written.has(0, 3) && !written.has(3, 1) && written.has(2 * PART - 2, 2) && !written.has(PART, 1));
        // Stores of a kernel that are undone, at both addresses.
        memory.give_access(base + 2 * PART, false).unwrap();
        let undone = memory.undone(|| {
            for (at, value) in [(base, 7), (base + 2 * PART, 8), (base + 4, 9)] {
                memory.store_each(&Access::new(1, &[at; 32], 4), &[[value; 32]]).unwrap();
            }
            [base, base + 2 * PART + 4].map(|at| memory.value(at, 4))
        });
        assert_eq!(undone, Some([8, 9]));
        assert_eq!([base, base + 2 * PART].map(|at| memory.value(at, 8)), [0x0005_0505; 2]);
        // The number is another's once the last mapping is gone.
        memory.unmap(base).unwrap();
        memory.destroy(ring);
        assert_eq!(held(&memory, base + 4 * PART - 3), [0, 1, 2]);
        let other = memory.create(PART).unwrap();
        map(&mut memory, base, PART, &other, 0);
        assert_ne!(memory.locate(base, false).unwrap().index, memory.locate(base + 2 * PART, false).unwrap().index);
        memory.unmap(base + 2 * PART).unwrap();
        assert_eq!(memory.mappable.unused, [0]);
    }

    #[test]
    fn memory_is_mapped_in_parts() {
        let mut memory = Memory::new(4 * PART);
        let base = memory.reserve(8 * PART, PART).unwrap();
        let all = memory.create(4 * PART).unwrap();
        map(&mut memory, base, 3 * PART, &all, PART);
        memory.write(base + PART - 2, &[1, 2, 3, 4]).unwrap();
        map(&mut memory, base + 4 * PART, 4 * PART, &all, 0);
        assert_eq!(held(&memory, base + 6 * PART - 3), [0, 1, 2, 3, 4, 0]);
        assert_eq!(memory.unwritten(base + 6 * PART - 3, 1, 6), [true, false, false, false, false, true]);
        for (bytes, offset) in [(4 * PART, PART), (PART, 4 * PART), (PART, 2), (PART - 4, 0), (PART, u64::MAX - 4095)] {
            assert!(memory.map(base + 3 * PART, bytes, &all, offset).is_err(), "{bytes} {offset}");
        }
    }

    #[test]
    fn copies_cross_from_one_mapping_into_the_next() {
        let mut memory = Memory::new(4 * PART);
        let after = memory.allocate(8).unwrap();
        let base = memory.reserve(3 * PART, PART).unwrap();
        for part in [1, 0] {
            let physical = memory.create(PART).unwrap();
            map(&mut memory, base + part * PART, PART, &physical, 0);
        }
        memory.fill(base, 2 * PART, 7).unwrap();
        memory.write(base + PART - 2, &[1, 2, 3, 4]).unwrap();
        assert_eq!(held(&memory, base + PART - 3), [7, 1, 2, 3, 4, 7]);
        // Beyond the second there is nothing, and nothing is written.
        assert!(memory.write(base + 2 * PART - 1, &[9, 9]).is_err());
        assert_eq!(held(&memory, base + 2 * PART - 1), [7]);
        assert!(after < base && memory.allocate(8).unwrap() > base + 3 * PART);
    }

    #[test]
    fn what_cannot_be_reserved_or_made_is_refused() {
        let mut memory = Memory::new(PART);
        assert!(memory.reserve(1 << 43, PART).is_none() && memory.reserve(u64::MAX, PART).is_none());
        assert!(memory.reserve(PART, 1 << 63).is_none());
        assert!(matches!(memory.create(2 * PART), Err(MemoryError::OutOfMemory { .. })));
        let physical = memory.create(PART).unwrap();
        assert!(memory.map(u64::MAX - 1, 4096, &physical, 0).is_err());
    }
}
