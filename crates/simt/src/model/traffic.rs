//! What a replay of the launch ([`crate::timing`]) needs to know of L2 and DRAM beyond the
//! counters: which instructions' reads hit, how densely DRAM is read and written, and which sectors
//! are written in part. Kept only if a launch asks for its time.

use std::collections::HashMap;

use super::counters::SectorCounters;
use super::partitions::Camping;

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
    written: HashMap<u64, u128>,
    /// Blocks of 512 bytes of DRAM that were read, and which eighths of them.
    read_blocks: HashMap<u64, u8>,
    /// Blocks of 512 bytes that were written, and which sectors of them.
    written_blocks: HashMap<u64, u16>,
    /// What was written back.
    back: WrittenBack,
    /// How the partitions of DRAM are used, on models without L2.
    pub camping: Camping,
    /// The atomic operations of each instruction.
    atomics: HashMap<u32, Hottest>,
}

/// Which sectors atomic operations go to, if few get many (Misra and Gries 1982).
#[derive(Default)]
struct Hottest {
    all: u64,
    counts: Vec<(u64, u64)>,
}

/// Sectors that are counted; one that gets a larger part than its inverse is among them.
const COUNTED: usize = 16;

impl Hottest {
    fn add(&mut self, sector: u64) {
        self.all += 1;
        if let Some((_, count)) = self.counts.iter_mut().find(|(known, _)| *known == sector) {
            *count += 1;
        } else if self.counts.len() < COUNTED {
            self.counts.push((sector, 1));
        } else {
            self.counts.iter_mut().for_each(|(_, count)| *count -= 1);
            self.counts.retain(|&(_, count)| count > 0);
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
    /// Of the blocks of 512 bytes that were read, the part that was.
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
    }

    /// L2 did an atomic operation on sectors of a line.
    pub fn atomic(&mut self, note: Note, line: u64, sectors: u8) {
        let hottest = self.atomics.entry(note.place).or_default();
        (0..4).filter(|sector| sectors >> sector & 1 == 1).for_each(|sector| hottest.add(line * 4 + sector));
    }

    /// Of an instruction's atomic operations, the part that goes to one sector, the one with most.
    pub fn hottest(&self, place: u32) -> f64 {
        let of = |hottest: &Hottest| {
            let most = hottest.counts.iter().map(|&(_, count)| count).max().unwrap_or(0);
            most as f64 / hottest.all.max(1) as f64
        };
        self.atomics.get(&place).map_or(0.0, of)
    }

    /// DRAM was read.
    pub fn fetch(&mut self, line: u64, sectors: u8) {
        let block = self.read_blocks.entry(line / 4).or_default();
        for pair in (0..2).filter(|pair| sectors >> (2 * pair) & 3 != 0) {
            *block |= 1 << (line % 4 * 2 + pair);
        }
    }

    /// L2 was written.
    pub fn write(&mut self, line: u64, sectors: u8, bytes: u128) {
        *self.written.entry(line).or_default() |= bytes;
        *self.written_blocks.entry(line / 4).or_default() |= u16::from(sectors) << (line % 4 * 4);
    }

    /// A dirty line was written to DRAM.
    pub fn write_back(&mut self, line: u64, sectors: u8) {
        let bytes = self.written.remove(&line).unwrap_or(u128::MAX);
        self.back.add(sectors, bytes);
    }

    /// What was written back, and what will be: the dirty sectors that are left.
    pub fn writes(&self, dirty: &HashMap<u64, u8>) -> [WrittenBack; 2] {
        let mut left = WrittenBack::default();
        dirty
            .iter()
            .for_each(|(line, &sectors)| left.add(sectors, self.written.get(line).copied().unwrap_or(u128::MAX)));
        [self.back, left]
    }

    /// How densely DRAM was used; 1 if it was not.
    pub fn density(&self) -> Density {
        let part = |used: u32, blocks: usize, parts: usize| match blocks {
            0 => 1.0,
            blocks => f64::from(used) / (blocks * parts) as f64,
        };
        let read = self.read_blocks.values().map(|block| block.count_ones()).sum();
        let written = self.written_blocks.values().map(|block| block.count_ones()).sum();
        Density { read: part(read, self.read_blocks.len(), 8), written: part(written, self.written_blocks.len(), 16) }
    }

    /// Distinct bytes that were read from DRAM or written, in blocks of 512 bytes as they lie.
    pub fn footprint(&self) -> u64 {
        let more = self.written_blocks.keys().filter(|block| !self.read_blocks.contains_key(block)).count();
        (self.read_blocks.len() + more) as u64 * 512
    }
}
