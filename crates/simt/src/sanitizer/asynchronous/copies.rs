//! Asynchronous copies (`cp.async`) under way: what they have yet to read and to write.
//! `pending` begins and ends them, and asks which one an access conflicts with.
//!
//! A copy may happen at any time between its instruction and its thread's wait (`wait_all`,
//! `wait_group`), or until a thread sees the phase of the `mbarrier` that the copy arrives at.
//! Until then, any access to its destination and any write to its source has an undefined result,
//! even by the same thread, and no barrier helps. After the wait, the copy's accesses are that
//! thread's like any others, so other threads need a barrier: see [`Copies::settle`]. A race and a
//! missing wait on one line are one finding.

use std::collections::BTreeMap;

use crate::address::{AllocationSpan, BLOCK_WINDOW_BYTES, Located};
use crate::coalesce::Shape;
use crate::instruction::AccessKind;
use crate::lanes::{Row, WideRow};
use crate::memory::Memory;
use crate::program::MemoryOperation;
use crate::sanitizer::race::Races;
use crate::sanitizer::touch::Reached;

/// A `cp.async` of a warp.
pub(crate) struct TrackedCopy {
    /// Index of the instruction in `Code::places`.
    pub place: u32,
    /// The block, and the warp in it.
    pub block: u64,
    pub warp: u32,
    /// The lanes whose copies have not been waited for.
    pub mask: u32,
    /// Those of them whose copies other threads may already wait for.
    pub settled: u32,
    /// Where each lane writes to, among the shared memories of all blocks that exist at once.
    pub to: WideRow,
    /// Bytes that each lane writes: 4, 8 or 16, aligned.
    pub bytes: u32,
    /// What it writes.
    pub words: [Row; 4],
    /// Where each lane reads in global memory.
    pub from: WideRow,
    /// Bytes that each lane reads.
    pub read: Row,
}

/// A lane's part of a copy, and the first byte that it and an access share.
pub(in crate::sanitizer) struct Overlap<'a> {
    pub copy: &'a TrackedCopy,
    pub lane: usize,
    pub address: u64,
}

/// The copies of all clusters that exist at once.
#[derive(Default)]
pub(in crate::sanitizer) struct Copies {
    begun: u32,
    /// By number, from 1.
    pending: BTreeMap<u32, TrackedCopy>,
    /// For each word of each block's shared memory, the copy and the lane that will write it: 32
    /// times the number, plus the lane.
    words: Vec<Vec<u32>>,
}

/// The block that a word of all blocks' shared memory belongs to, and the word's index in that
/// block.
fn word_in_block(word: usize) -> (usize, usize) {
    const WORDS: usize = BLOCK_WINDOW_BYTES as usize / 4;
    (word / WORDS, word % WORDS)
}

impl Copies {
    /// A block starts.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether any copy is under way.
    #[inline(always)]
    pub fn any(&self) -> bool {
        !self.pending.is_empty()
    }

    /// A copy begins. Returns its number.
    pub fn begin(&mut self, copy: TrackedCopy) -> u32 {
        self.begun += 1;
        let number = self.begun;
        for (lane, word) in copy.words_to(copy.mask) {
            let (rank, word) = word_in_block(word);
            if self.words.len() <= rank {
                self.words.resize(rank + 1, Vec::new());
            }
            let words = &mut self.words[rank];
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            words[word] = number.wrapping_mul(32) + lane as u32;
        }
        self.pending.insert(number, copy);
        number
    }

    /// Other threads may wait for some lanes' copies from now on: reports the copies' accesses to
    /// the race detector, as made by these lanes now. If a copy arrives at a second mbarrier later,
    /// that changes nothing for those who waited at the first.
    pub fn settle(&mut self, number: u32, mask: u32, races: &mut Races, memory: &Memory) {
        let Some(copy) = self.pending.get_mut(&number) else { return };
        let mask = mask & copy.mask & !copy.settled;
        copy.settled |= mask;
        let &mut TrackedCopy { place, warp, ref to, bytes, ref from, ref read, .. } = copy;
        let warp = races.in_cluster(warp);
        let mut access = |allocation: Option<usize>, kind, mut mask: u32, offsets: &WideRow, width| {
            while mask != 0 {
                let near = Shape::near(mask, offsets);
                let mut shape = Shape::new();
                let lowest = shape.follow(near, offsets, width);
                let operation = &MemoryOperation::new(place, kind, width);
                // Races of the copy itself have been reported.
                let time = races.clocks.interval(warp);
                let lanes = &shape.lanes(lowest);
                races.access(&Reached { allocation, operation, lanes, base: 0, warp, time }, &mut |_, _| {});
                mask &= !near;
            }
        };
        access(None, AccessKind::Store, mask, to, bytes);
        let mut rest = mask_of(|lane| mask >> lane & 1 == 1 && read[lane] > 0);
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize & 31;
            // Invalid reads have been reported.
            let there = memory.locate(from[lane], false).filter(|there| holds(&there.span, from[lane]));
            let Some(Located { index, span, base }) = there else {
                rest &= rest - 1;
                continue;
            };
            // Together with all lanes that read as many bytes of the same allocation.
            let same = rest & mask_of(|other| read[other] == read[lane] && holds(&span, from[other]));
            let mut offsets = from.map(|from| from.wrapping_sub(base));
            let (each, count) = if read[lane] == bytes { (bytes, 1) } else { (1, read[lane]) };
            for _ in 0..count {
                access(Some(index), AccessKind::Load, same, &offsets, each);
                offsets.iter_mut().for_each(|offset| *offset = offset.wrapping_add(1));
            }
            rest &= !(same | 1 << lane);
        }
    }

    /// Lanes have waited for a copy.
    pub fn end(&mut self, number: u32, mask: u32) {
        let Some(copy) = self.pending.get_mut(&number) else { return };
        for (lane, word) in copy.words_to(mask & copy.mask) {
            let (rank, word) = word_in_block(word);
            if self.words[rank][word] == number.wrapping_mul(32) + lane as u32 {
                self.words[rank][word] = 0;
            }
        }
        copy.mask &= !mask;
        if copy.mask == 0 {
            self.pending.remove(&number);
        }
    }

    /// The copy that has yet to write some of these bytes of shared memory.
    pub fn writing(&self, address: u64, width: u32) -> Option<Overlap<'_>> {
        let end = address + u64::from(width);
        (address / 4..end.div_ceil(4)).find_map(|word| {
            let (rank, index) = word_in_block(word as usize);
            let entry = *self.words.get(rank)?.get(index).filter(|&&entry| entry != 0)?;
            let copy = self.pending.get(&(entry / 32))?;
            Some(Overlap { copy, lane: entry as usize % 32, address: address.max(4 * word) })
        })
    }

    /// The copy that has yet to read some of these bytes of global memory.
    pub fn reading(&self, address: u64, width: u32) -> Option<Overlap<'_>> {
        self.pending.values().find_map(|copy| {
            let lane = (0..32).find(|&lane| {
                let (from, read) = (copy.from[lane], u64::from(copy.read[lane]));
                copy.mask >> lane & 1 == 1 && from < address + u64::from(width) && address < from + read
            })?;
            Some(Overlap { copy, lane, address: address.max(copy.from[lane]) })
        })
    }

    /// The value of bytes of shared memory after all copies, if it is `old` now.
    pub fn value_then(&self, address: u64, width: u32, old: u128) -> u128 {
        (0..width).fold(old, |value, at| match self.writing(address + u64::from(at), 1) {
            Some(Overlap { copy, lane, address }) => {
                let byte = u128::from(copy.byte(lane, address));
                value & !(0xff << (8 * at)) | byte << (8 * at)
            }
            None => value,
        })
    }
}

impl TrackedCopy {
    /// The words of shared memory that lanes will write: the lane, and the word's index.
    fn words_to(&self, mask: u32) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (to, count) = (self.to, self.bytes as usize / 4);
        let lanes = (0..32).filter(move |lane| mask >> lane & 1 == 1);
        lanes.flat_map(move |lane| (0..count).map(move |word| (lane, to[lane] as usize / 4 + word)))
    }

    /// The byte that a lane will write to an address.
    fn byte(&self, lane: usize, address: u64) -> u8 {
        let at = address.wrapping_sub(self.to[lane]) as usize;
        self.words.get(at / 4).map_or(0, |row| row[lane].to_le_bytes()[at % 4])
    }
}

fn holds(span: &AllocationSpan, address: u64) -> bool {
    address.wrapping_sub(span.address) < span.bytes
}

/// The lanes for which `holds` is true.
fn mask_of(holds: impl Fn(usize) -> bool) -> u32 {
    (0..32).filter(|&lane| holds(lane)).fold(0, |mask, lane| mask | 1 << lane)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lanes 0 and 3 copy eight bytes each, from 0x1000 and 0x1018, to 0 and 24; lane 3 reads five
    /// of them.
    fn copy() -> TrackedCopy {
        let each = |stride: u64, base: u64| std::array::from_fn(|lane| base + stride * lane as u64);
        let mut read = [8; 32];
        read[3] = 5;
        let mut words = [[0; 32]; 4];
        (words[0][0], words[1][0]) = (0x0403_0201, 0x0807_0605);
        TrackedCopy {
            place: 7,
            block: 0,
            warp: 0,
            mask: 0b1001,
            settled: 0,
            to: each(8, 0),
            bytes: 8,
            words,
            from: each(8, 0x1000),
            read,
        }
    }

    #[test]
    fn what_is_on_its_way_is_found_byte_by_byte() {
        let mut copies = Copies::default();
        let number = copies.begin(copy());
        let writing =
            |copies: &Copies, address, width| copies.writing(address, width).map(|met| (met.lane, met.address));
        assert_eq!(writing(&copies, 0, 4), Some((0, 0)));
        assert_eq!(writing(&copies, 6, 1), Some((0, 6)));
        assert_eq!(writing(&copies, 8, 16), None);
        assert_eq!(writing(&copies, 16, 16), Some((3, 24)));
        assert_eq!(writing(&copies, 32, 4), None);
        let reading =
            |copies: &Copies, address, width| copies.reading(address, width).map(|met| (met.lane, met.address));
        assert_eq!(reading(&copies, 0x0ffc, 8), Some((0, 0x1000)));
        assert_eq!(reading(&copies, 0x1008, 16), None);
        assert_eq!(reading(&copies, 0x101c, 1), Some((3, 0x101c)));
        assert_eq!(reading(&copies, 0x101d, 3), None);
        copies.end(number, 0b0001);
        assert_eq!((writing(&copies, 0, 8), reading(&copies, 0x1000, 8)), (None, None));
        assert_eq!(writing(&copies, 28, 4), Some((3, 28)));
        assert!(copies.any());
        copies.end(number, u32::MAX);
        assert!(!copies.any() && copies.pending.is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_nobodys_access() {
        // Lane 0 reads past the end of the only allocation, lane 3 in front of it.
        let mut memory = Memory::new(1 << 20);
        let address = memory.allocate(8).unwrap();
        let mut copies = Copies::default();
        let mut from = [0; 32];
        (from[0], from[3]) = (address + 8, address - 8);
        let number = copies.begin(TrackedCopy { from, ..copy() });
        let mut races = Races::new((1, 32), 4, true);
        races.begin(0);
        copies.settle(number, u32::MAX, &mut races, &memory);
        copies.end(number, u32::MAX);
        assert!(!copies.any());
    }

    #[test]
    fn lanes_may_read_more_than_32_bits_apart() {
        const FAR: u64 = 5 << 30;
        let mut memory = Memory::new(FAR + 64);
        let address = memory.allocate(FAR + 64).unwrap();
        let mut copies = Copies::default();
        let mut from = [0; 32];
        (from[0], from[3]) = (address + FAR, address);
        let number = copies.begin(TrackedCopy { from, read: [8; 32], ..copy() });
        let mut races = Races::new((1, 32), 4, true);
        races.begin(0);
        copies.settle(number, u32::MAX, &mut races, &memory);
        let is_read =
            |offset: u64| races.known_of(Some(0), offset as usize / 4).is_some_and(|[_, read, _]| read.0 != 0);
        assert_eq!([0, FAR, FAR + 4, FAR % (1 << 32)].map(is_read), [true, true, true, false]);
    }

    #[test]
    fn values_are_known_before_they_come() {
        let mut copies = Copies::default();
        copies.begin(copy());
        assert_eq!(copies.value_then(0, 8, 0), 0x0807_0605_0403_0201);
        assert_eq!(copies.value_then(4, 8, 0xaaaa_aaaa_bbbb_bbbb), 0xaaaa_aaaa_0807_0605);
        assert_eq!(copies.value_then(24, 4, u128::from(u32::MAX)), 0);
    }

    #[test]
    fn the_later_of_two_copies_is_the_one_that_counts() {
        let mut copies = Copies::default();
        let first = copies.begin(copy());
        let second = copies.begin(TrackedCopy { place: 9, ..copy() });
        copies.end(first, u32::MAX);
        assert_eq!(copies.writing(0, 4).map(|met| met.copy.place), Some(9));
        copies.end(second, u32::MAX);
        assert!(copies.writing(0, 4).is_none());
    }
}
