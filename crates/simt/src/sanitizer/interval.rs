//! What a block does to its shared memory between two barriers, kept apart from the shadow as long as nothing in it can
//! race.
//!
//! Most kernels write shared memory, meet at a barrier, read what the others wrote, and meet at the next barrier. Once
//! all threads have met, everything before is ordered. So accesses are recorded as they come, with a bit for each cell
//! that is written, and later for each that is read. As long as no write meets another access of the same cell, the
//! record is dropped at the barrier, and no cell was ever marked. Where two accesses meet, or threads learn of each
//! other in other ways, everything recorded is marked in the shadow, in its order, and the rest of the interval goes
//! there directly.
//!
//! Kernels with bulk copies or `wgmma` are marked directly, because fences between proxies ask
//! later how memory was written; so are clusters of several blocks.

use super::touch::{Intent, Path, Reached, Stored};
use crate::memory::{Lanes, Runs};
use crate::program::{Copied, Order};
use crate::site::AccessAction;

/// Accesses that are kept, at most.
const MOST: usize = 512;
/// Two to the power of this many intervals go by, at most, until it is tried again.
const MOST_CLOSED: u32 = 5;

/// What was done to shared memory since all threads of the block last met.
#[derive(Default)]
pub(super) struct Interval {
    is_open: bool,
    /// How many intervals in a row were closed before their end, and how many are still not to be opened: kernels whose
    /// threads read and write the same cells between barriers do so again.
    closed: u32,
    skipped: u32,
    kept: Vec<Kept>,
    /// Of each of them, the distance of each lane from its start.
    offsets: Vec<[u32; 32]>,
    /// Of so many of them, the cells that are read are in `read`.
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
    /// Of the lane with the lowest address.
    start: u64,
}

impl Kept {
    /// Hands it on once more.
    fn again(&self, offsets: &[u32; 32], mut each: impl FnMut(&Reached)) {
        let &Self { reads, place, warp, time, mask, width, runs, start } = self;
        let intent = Intent {
            action: if reads { AccessAction::Read } else { AccessAction::Write },
            width,
            element: width,
            order: &Order::default(),
            copied: Copied::default(),
            overwrites: !reads,
            path: Path::Generic,
            place,
            stored: Stored::Unknown,
        };
        let lanes = Lanes { mask, start, offsets, width, runs };
        each(&Reached { allocation: None, intent: &intent, lanes: &lanes, base: 0, warp, time });
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

    /// Hands on once more what is kept, in its order.
    pub fn again(&self, mut each: impl FnMut(&Reached)) {
        for (kept, offsets) in self.kept.iter().zip(&self.offsets) {
            kept.again(offsets, &mut each);
        }
    }

    /// Nothing more is kept until the next interval.
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

    /// Keeps a plain access. Returns whether it could: it meets no other, as far as is easily seen.
    #[inline(always)]
    pub fn keep(&mut self, reached: &Reached, cell_shift: u32) -> bool {
        let &Reached { intent, lanes, base, warp, time, .. } = reached;
        // Else several neighbours may share a cell.
        let cells = lanes.width >> cell_shift;
        if self.kept.len() == MOST || !matches!(cells, 1 | 2 | 4 | 8 | 16) {
            return false;
        }
        let start = lanes.start + base;
        let reads = intent.action == AccessAction::Read;
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
        self.kept.push(Kept { reads, place: intent.place, warp, time, mask, width, runs, start });
        self.offsets.push(*offsets);
        true
    }

    /// Sees to it that `read` has what was read.
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

    /// Whether it has any of the cells that lanes access.
    #[inline(always)]
    fn has(&self, lanes: &Lanes, start: u64, cell_shift: u32) -> bool {
        let mut found = 0;
        each_part(lanes, start, cell_shift, |word, bits| {
            found |= self.bits.get(word).copied().unwrap_or(0) & bits;
        });
        found != 0
    }

    /// Adds the cells that lanes access. Returns whether none was there, nor any accessed by two of the lanes.
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

/// Calls `each` with all cells that lanes access: 32 times the word, and a bit for each cell.
#[inline(always)]
fn each_part(lanes: &Lanes, start: u64, cell_shift: u32, mut each: impl FnMut(usize, u32)) {
    let spread = (lanes.width >> cell_shift).trailing_zeros() & 31;
    if lanes.is_consecutive() {
        // A row or several, or parts of one more.
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
        // Aligned to what it accesses, so all in one word.
        each(cell / 32, ones << (cell % 32));
    }
}
