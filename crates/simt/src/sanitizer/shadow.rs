//! Shadow memory: for each cell of an allocation, who accessed it last. The race detector owns one
//! for each allocation and one for shared memory, and is the only one to read or change them.
//!
//! A cell is the smallest piece of memory that a kernel accesses: a word, or a byte if it accesses
//! bytes. A row is 32 neighbouring cells. Warps mostly access whole rows, each lane the cell (or
//! the 2, 4, 8 or 16 cells) next to its neighbour's: such an access is one [`Mark`] instead of 32
//! stamps. Any other access gives the row a stamp for each cell, until a whole warp accesses it
//! again. Pages of rows are created on first access.
//!
//! A row of marks takes 24 bytes, a row of stamps up to 24 bytes more for each cell.

use std::ops::Range;

use super::stamp::Stamp;

/// Cells of a row: as many as a warp has lanes.
pub(super) const ROW: usize = 32;
/// Rows of a page.
const PAGE: usize = 128;

/// The marks of a row: the last write, a read since then, and a read by another thread.
pub(super) type Marks<'s> = [&'s mut Mark; 3];
/// The marks of a page's rows, each kind together: most accesses need only one.
type Page = [[Mark; PAGE]; 3];

/// The last write.
pub(super) const WRITE: usize = 0;
/// A read since the last write, and one by another thread.
pub(super) const READS: [usize; 2] = [1, 2];

/// Who accessed the cells of a row.
///
/// 0: no access. If the low five bits are 0, the others are the index of the row's stamps, one for
/// each cell. Otherwise it is the stamp of the thread with the first cell. The following threads
/// have the following cells, 2 to the power of *spread* each. That thread's number thus has 5 -
/// spread low zero bits, and the highest of these is set to encode the spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark(pub u64);

impl Mark {
    /// The mark of the lanes from `lane` on, with 2 to the power of `spread` cells each; `stamp` is
    /// lane 0's.
    #[inline(always)]
    pub fn of_lanes(stamp: Stamp, lane: u32, spread: u32) -> Self {
        Self(stamp.0 | u64::from(lane | 16 >> (spread & 31)))
    }

    /// Whether each cell has its own stamp.
    #[inline(always)]
    pub fn is_per_cell(self) -> bool {
        self.0 & 31 == 0
    }

    /// The index of the stamps, if each cell has its own.
    #[inline(always)]
    fn index(self) -> usize {
        (self.0 >> 5) as usize
    }

    /// The stamp of a cell, if the row has a common mark.
    #[inline(always)]
    pub fn of_cell(self, at: usize) -> u64 {
        let spread = 4 - (self.0 | 16).trailing_zeros();
        (self.0 & self.0.wrapping_sub(1)) + (at as u64 >> spread)
    }
}

/// What is known of each cell of an allocation.
#[derive(Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Box<Page>>>,
    stamps: Stamps,
    /// The last write to any cell, and the last read.
    pub last: [u64; 2],
}

impl Shadow {
    /// A row, by its number, and the stamps that it may refer to.
    #[inline(always)]
    pub fn row(&mut self, row: usize) -> (Marks<'_>, &mut Stamps) {
        if self.pages.len() <= row / PAGE {
            self.pages.resize_with(row / PAGE + 1, || None);
        }
        let page = self.pages[row / PAGE].get_or_insert_with(new_page);
        (page.each_mut().map(|marks| &mut marks[row % PAGE]), &mut self.stamps)
    }

    pub fn get(&self, layer: usize, cell: usize) -> Stamp {
        match self.pages.get(cell / ROW / PAGE) {
            Some(Some(page)) => self.stamps.of_cell(page[layer][cell / ROW % PAGE], cell % ROW),
            _ => Stamp(0),
        }
    }

    /// Forgets all accesses to these cells.
    pub fn forget(&mut self, cells: Range<usize>) {
        for row in cells.start / ROW..cells.end.div_ceil(ROW) {
            if !matches!(self.pages.get(row / PAGE), Some(Some(_))) {
                continue;
            }
            let (from, to) = (cells.start.saturating_sub(row * ROW), (cells.end - row * ROW).min(ROW));
            let (marks, stamps) = self.row(row);
            for mark in marks.into_iter().filter(|mark| mark.0 != 0) {
                if to - from == ROW {
                    stamps.set(mark, Mark(0));
                } else {
                    stamps.per_cell(mark)[from..to].fill(0);
                }
            }
        }
    }

    pub fn set(&mut self, layer: usize, cell: usize, stamp: Stamp) {
        let last = &mut self.last[usize::from(layer != WRITE)];
        *last = stamp.0.max(*last);
        let (row, stamps) = self.row(cell / ROW);
        stamps.per_cell(row[layer])[cell % ROW] = stamp.0;
    }
}

#[cold]
#[inline(never)]
fn new_page() -> Box<Page> {
    Box::new([[Mark::default(); PAGE]; 3])
}

/// The stamps of rows whose cells have their own.
pub(super) struct Stamps {
    /// Row 0 stands for cells that were never accessed.
    rows: Vec<[u64; ROW]>,
    /// The rows that are not in use.
    free: Vec<u32>,
}

impl Default for Stamps {
    fn default() -> Self {
        Self { rows: vec![[0; ROW]], free: Vec::new() }
    }
}

impl Stamps {
    /// The stamps of a row's cells.
    #[inline(always)]
    pub fn of<'s>(&'s self, mark: Mark, room: &'s mut [u64; ROW]) -> &'s [u64; ROW] {
        if mark.is_per_cell() {
            return &self.rows[mark.index()];
        }
        for (at, stamp) in room.iter_mut().enumerate() {
            *stamp = mark.of_cell(at);
        }
        room
    }

    /// The stamps of a row's cells, if each cell has its own.
    #[inline(always)]
    pub fn row(&self, mark: Mark) -> &[u64; ROW] {
        &self.rows[mark.index()]
    }

    /// The stamp of a row's cell.
    #[inline(always)]
    pub fn of_cell(&self, mark: Mark, at: usize) -> Stamp {
        Stamp(if mark.is_per_cell() { self.rows[mark.index()][at % ROW] } else { mark.of_cell(at % ROW) })
    }

    /// The stamps of a row's cells, as separate entries that can be changed.
    #[inline(always)]
    pub fn per_cell(&mut self, mark: &mut Mark) -> &mut [u64; ROW] {
        if mark.0 == 0 || !mark.is_per_cell() {
            self.part(mark);
        }
        &mut self.rows[mark.index()]
    }

    /// Gives each cell of a row its own stamp.
    #[cold]
    #[inline(never)]
    fn part(&mut self, mark: &mut Mark) {
        let mut room = [0; ROW];
        let stamps = *self.of(*mark, &mut room);
        let index = self.free.pop().unwrap_or_else(|| {
            self.rows.push([0; ROW]);
            self.rows.len() as u32 - 1
        });
        self.rows[index as usize] = stamps;
        *mark = Mark(u64::from(index) << 5);
    }

    /// Replaces the mark of a whole row.
    #[inline(always)]
    pub fn set(&mut self, old: &mut Mark, new: Mark) {
        if old.is_per_cell() && old.0 != 0 {
            self.free.push(old.index() as u32);
        }
        *old = new;
    }
}
