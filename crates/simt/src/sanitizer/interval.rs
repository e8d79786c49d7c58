//! A block's accesses to shared memory between two barriers, kept out of the shadow as long as none
//! can race. The race detector adds accesses, and replays them into the shadow if it must.
//!
//! Most kernels write shared memory, meet at a barrier, read what the others wrote, and meet at the
//! next barrier. Once all threads have met, everything before is ordered. So accesses are only
//! recorded, with a bit for each cell that is written, and later for each that is read. As long as
//! no write touches a cell that another access has touched, the record is dropped at the barrier,
//! and no cell is ever marked. If two accesses touch the same cell, or threads learn of each other
//! in another way, the record is replayed into the shadow in order, and the rest of the interval
//! goes there directly.
//!
//! Kernels with bulk copies or `wgmma` always use the shadow, because proxy fences need to know how
//! memory was written; so do clusters of several blocks.

use super::touch::Reached;
use crate::address::{Lanes, Runs};
use crate::instruction::AccessKind;
use crate::program::MemoryOperation;
use crate::site::AccessAction;

/// The most accesses that are kept.
const MOST: usize = 512;
/// At most 2 to the power of this many intervals are skipped before the next try.
const MOST_CLOSED: u32 = 5;

/// The accesses to shared memory since all threads of the block last met.
#[derive(Default)]
pub(super) struct Interval {
    is_open: bool,
    /// How many intervals in a row were closed early, and how many are still to be skipped: kernels
    /// whose threads read and write the same cells between barriers usually do so again.
    closed: u32,
    skipped: u32,
    kept: Vec<Kept>,
    /// For each kept access, the distance of each lane from its start.
    offsets: Vec<[u32; 32]>,
    /// How many of the kept accesses are included in `read`.
    counted: usize,
    written: Cells,
    read: Cells,
}

/// An access that was kept.
struct Kept {
    reads: bool,
    place: u32,
    warp: u32,
    time: u32,
    mask: u32,
    width: u32,
    runs: Runs,
    /// Where the lane with the lowest address starts.
    start: u64,
}

impl Kept {
    /// Replays it to `each`.
    fn again(&self, offsets: &[u32; 32], mut each: impl FnMut(&Reached)) {
        let &Self { reads, place, warp, time, mask, width, runs, start } = self;
        let kind = if reads { AccessKind::Load } else { AccessKind::Store };
        let operation = &MemoryOperation { overwrites: !reads, ..MemoryOperation::new(place, kind, width) };
        let lanes = Lanes { mask, start, offsets, width, runs };
        each(&Reached { allocation: None, operation, lanes: &lanes, base: 0, warp, time });
    }
}

impl Interval {
    /// An interval begins: all threads have met.
    pub fn begin(&mut self) {
        if std::mem::replace(&mut self.is_open, self.skipped == 0) {
            self.closed = 0;
        }
        self.skipped = self.skipped.saturating_sub(1);
        self.forget();
    }

    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Replays the kept accesses in order.
    pub fn again(&self, mut each: impl FnMut(&Reached)) {
        for (kept, offsets) in self.kept.iter().zip(&self.offsets) {
            kept.again(offsets, &mut each);
        }
    }

    /// Ends the record until the next interval.
    pub fn close(&mut self) {
        self.is_open = false;
        self.closed = (self.closed + 1).min(MOST_CLOSED);
        self.skipped = (1 << self.closed) - 1;
        self.forget();
    }

    fn forget(&mut self) {
        self.kept.clear();
        self.offsets.clear();
        self.counted = 0;
        self.written.clear();
        self.read.clear();
    }

    /// Keeps a plain access. Returns false if it may touch the cells of another one.
    #[inline(always)]
    pub fn keep(&mut self, reached: &Reached, cell_shift: u32) -> bool {
        let &Reached { operation, lanes, base, warp, time, .. } = reached;
        // Otherwise several neighbours may share a cell.
        let cells = lanes.width >> cell_shift;
        if self.kept.len() == MOST || !matches!(cells, 1 | 2 | 4 | 8 | 16) {
            return false;
        }
        let start = lanes.start + base;
        let reads = operation.action == AccessAction::Read;
        if reads {
            if self.written.any && self.written.has(lanes, start, cell_shift) {
                return false;
            }
        } else {
            self.count_reads(cell_shift);
            if self.read.any && self.read.has(lanes, start, cell_shift) || !self.written.add(lanes, start, cell_shift) {
                return false;
            }
        }
        let &Lanes { mask, width, runs, offsets, .. } = lanes;
        self.kept.push(Kept { reads, place: operation.place, warp, time, mask, width, runs, start });
        self.offsets.push(*offsets);
        true
    }

    /// Adds the cells of all kept reads to `read`.
    #[inline(always)]
    fn count_reads(&mut self, cell_shift: u32) {
        if self.counted == self.kept.len() {
            return;
        }
        let all = self.kept.iter().zip(&self.offsets).skip(self.counted);
        for (kept, offsets) in all.filter(|(kept, _)| kept.reads) {
            let &Kept { mask, start, width, runs, .. } = kept;
            self.read.add(&Lanes { mask, start, offsets, width, runs }, start, cell_shift);
        }
        self.counted = self.kept.len();
    }
}

/// A set of cells.
#[derive(Default)]
struct Cells {
    bits: Vec<u32>,
    any: bool,
}

impl Cells {
    fn clear(&mut self) {
        if std::mem::take(&mut self.any) {
            self.bits.fill(0);
        }
    }

    /// Whether it contains any of the cells that lanes access.
    #[inline(always)]
    fn has(&self, lanes: &Lanes, start: u64, cell_shift: u32) -> bool {
        let mut found = 0;
        each_part(lanes, start, cell_shift, |word, bits| {
            found |= self.bits.get(word).copied().unwrap_or(0) & bits;
        });
        found != 0
    }

    /// Adds the cells that lanes access. Returns whether all are new, and no two lanes share one.
    #[inline(always)]
    fn add(&mut self, lanes: &Lanes, start: u64, cell_shift: u32) -> bool {
        self.any = true;
        let mut found = 0;
        each_part(lanes, start, cell_shift, |word, bits| {
            if self.bits.len() <= word {
                self.bits.resize(word + 1, 0);
            }
            found |= self.bits[word] & bits;
            self.bits[word] |= bits;
        });
        found == 0
    }
}

/// Calls `each` with all cells that lanes access: a word's index, and a bit for each cell in it.
#[inline(always)]
fn each_part(lanes: &Lanes, start: u64, cell_shift: u32, mut each: impl FnMut(usize, u32)) {
    let spread = (lanes.width >> cell_shift).trailing_zeros() & 31;
    if lanes.is_consecutive() {
        // One row or more, and parts of another.
        let (first, at) = (start as usize >> cell_shift, start >> cell_shift & 31);
        for row in 0..1 << spread {
            let bits = (u64::from(u32::MAX)) << at;
            each(first / 32 + row, bits as u32);
            if at != 0 {
                each(first / 32 + row + 1, (bits >> 32) as u32);
            }
        }
        return;
    }
    let ones = u32::MAX >> (32 - (1 << spread));
    let mut rest = lanes.mask;
    while rest != 0 {
        let lane = (rest.trailing_zeros() & 31) as usize;
        rest &= rest - 1;
        let cell = (start + u64::from(lanes.offsets[lane])) as usize >> cell_shift;
        // Aligned to its width, so all in one word.
        each(cell / 32, ones << (cell % 32));
    }
}
