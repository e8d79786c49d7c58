//! What a replay of the launch ([`crate::timing`]) needs to know of L2 and DRAM beyond the
//! counters: which instructions' reads hit, how densely DRAM is read and written, and which sectors
//! are written in part. Kept only if a launch asks for its time.

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};

use super::atomics::{Busiest, Meetings};
use super::counters::SectorCounters;
use super::partitions::Camping;
use super::sources::{Source, Sources};

/// A request to L2, as far as only the traffic cares.
#[derive(Clone, Copy)]
pub(crate) struct Note {
    /// The instruction.
    pub place: u32,
    /// The bytes of the line that are accessed.
    pub bytes: u128,
}

/// What L2 and DRAM did.
#[derive(Default)]
pub(crate) struct Traffic {
    /// The reads of each instruction from L2.
    pub reads: Vec<SectorCounters>,
    /// The bytes written of each dirty line.
    written: FxHashMap<u64, u128>,
    /// What DRAM read, in eighths of blocks.
    fetched: Rows,
    /// What DRAM has read for each instruction, and for the one that L2 serves.
    pub sources: Sources,
    since: Source,
    /// Blocks of 512 bytes that were written.
    written_blocks: FxHashSet<u64>,
    /// The sectors of blocks that were written back.
    flushed: Rows,
    /// What was written back.
    back: WrittenBack,
    /// How the partitions of DRAM are used, on models without L2.
    pub camping: Camping,
    /// The atomic operations of each instruction.
    atomics: FxHashMap<u32, Meetings>,
}

/// Blocks of DRAM that are open at once. A bank keeps a row open, 1 KiB of a pseudo channel; the
/// six stacks of an H200 have 32 pseudo channels each (JESD238), and these 32 banks in a stack of
/// eight dies.
const OPEN: u64 = 6 * 32 * 32 * 2;

/// Which parts of blocks of 512 bytes DRAM moves while it has them open. A block that comes back
/// after `OPEN` others is opened again.
#[derive(Clone, Default)]
struct Rows {
    /// Blocks that were opened.
    opened: u64,
    /// Parts of them that were moved, of blocks that are closed.
    moved: u64,
    /// The last opening of each block, what was moved since, and what ever was.
    blocks: FxHashMap<u64, (u64, u16, u16)>,
}

impl Rows {
    /// Moves parts of a block. Returns those that were never moved before.
    fn access(&mut self, block: u64, parts: u16) -> u16 {
        let (opening, moved, ever) = self.blocks.entry(block).or_insert((u64::MAX, 0, 0));
        if *opening == u64::MAX || *opening + OPEN <= self.opened {
            self.moved += u64::from(moved.count_ones());
            (*opening, *moved) = (self.opened, 0);
            self.opened += 1;
        }
        *moved |= parts;
        let first = parts & !*ever;
        *ever |= parts;
        first
    }

    /// The part of the open blocks that was moved, if each has `parts`; 1 if none was opened.
    fn density(&self, parts: u64) -> f64 {
        let open: u64 = self.blocks.values().map(|(_, moved, _)| u64::from(moved.count_ones())).sum();
        match self.opened {
            0 => 1.0,
            opened => (self.moved + open) as f64 / (opened * parts) as f64,
        }
    }
}

/// Sectors that are written to DRAM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WrittenBack {
    pub sectors: u64,
    /// Those of them of which not every byte was written.
    pub partial: u64,
}

/// How densely DRAM is used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Density {
    /// Of the blocks of 512 bytes that were read, the part that was while they were open.
    pub read: f64,
    /// Likewise, written.
    pub written: f64,
}

impl WrittenBack {
    fn add(&mut self, sectors: u8, bytes: u128) {
        for sector in (0..4).filter(|sector| sectors >> sector & 1 == 1) {
            self.sectors += 1;
            self.partial += u64::from((bytes >> (32 * sector)) as u32 != u32::MAX);
        }
    }
}

impl Traffic {
    /// An instruction read from L2.
    pub fn read(&mut self, note: Note, counted: SectorCounters) {
        let place = note.place as usize;
        if self.reads.len() <= place {
            self.reads.resize(place + 1, SectorCounters::default());
        }
        self.reads[place] += counted;
        let since = std::mem::take(&mut self.since);
        if since.pairs > 0 {
            self.sources.add(note.place, since);
        }
    }

    /// L2 did an atomic operation on sectors of a line.
    pub fn atomic(&mut self, note: Note, line: u64, sectors: u8) {
        self.since = Source::default();
        let meetings = self.atomics.entry(note.place).or_default();
        (0..4).filter(|sector| sectors >> sector & 1 == 1).for_each(|sector| meetings.add(line * 4 + sector));
    }

    /// Of an instruction's atomic operations, the parts that meet in L2.
    pub fn busiest(&self, place: u32) -> Busiest {
        self.atomics.get(&place).map(Meetings::busiest).unwrap_or_default()
    }

    /// DRAM was read.
    pub fn fetch(&mut self, line: u64, sectors: u8) {
        let pairs = (0..2).filter(|pair| sectors >> (2 * pair) & 3 != 0);
        let pairs: u16 = pairs.map(|pair| 1 << (line % 4 * 2 + pair)).sum();
        let first = self.fetched.access(line / 4, pairs);
        self.since.pairs += u64::from(pairs.count_ones());
        self.since.first += u64::from(first.count_ones());
        self.since.lines = (line, line);
    }

    /// L2 was written.
    pub fn write(&mut self, line: u64, bytes: u128) {
        match self.written.entry(line) {
            Entry::Occupied(mut written) => *written.get_mut() |= bytes,
            Entry::Vacant(written) => {
                written.insert(bytes);
                self.written_blocks.insert(line / 4);
            }
        }
    }

    /// A dirty line was written to DRAM.
    pub fn write_back(&mut self, line: u64, sectors: u8) {
        let bytes = self.written.remove(&line).unwrap_or(u128::MAX);
        self.back.add(sectors, bytes);
        self.flushed.access(line / 4, u16::from(sectors) << (line % 4 * 4));
    }

    /// What was written back, and what will be: the dirty sectors that are left.
    pub fn writes(&self, dirty: &FxHashMap<u64, u8>) -> [WrittenBack; 2] {
        let mut left = WrittenBack::default();
        dirty
            .iter()
            .for_each(|(line, &sectors)| left.add(sectors, self.written.get(line).copied().unwrap_or(u128::MAX)));
        [self.back, left]
    }

    /// How densely DRAM was used; 1 if it was not. Lines that are still dirty will be written back
    /// in this order.
    pub fn density(&self, dirty: impl Iterator<Item = (u64, u8)>) -> Density {
        let mut flushed = self.flushed.clone();
        for (line, sectors) in dirty {
            flushed.access(line / 4, u16::from(sectors) << (line % 4 * 4));
        }
        Density { read: self.fetched.density(8), written: flushed.density(16) }
    }

    /// Distinct bytes that were read from DRAM or written, in blocks of 512 bytes as they lie.
    pub fn footprint(&self) -> u64 {
        let more = self.written_blocks.iter().filter(|block| !self.fetched.blocks.contains_key(block)).count();
        (self.fetched.blocks.len() + more) as u64 * 512
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_opened_again_once_others_took_its_place() {
        let mut rows = Rows::default();
        let sweep = |rows: &mut Rows, count: u64, part: u16| (0..count).for_each(|block| _ = rows.access(block, part));
        sweep(&mut rows, OPEN / 2, 1);
        sweep(&mut rows, OPEN / 2, 2);
        assert_eq!((rows.opened, rows.density(8)), (OPEN / 2, 0.25));
        sweep(&mut rows, 2 * OPEN, 4);
        sweep(&mut rows, 2 * OPEN, 8);
        assert_eq!(rows.opened, 4 * OPEN);
        assert_eq!(rows.access(0, 9), 0);
        assert_eq!(rows.access(0, 17), 16);
    }
}
