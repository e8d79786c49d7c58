//! Shadow memory: for each cell of an allocation, who accessed it last.
//!
//! A cell is the smallest piece of memory that a kernel accesses: a word, or a byte where it accesses bytes. Pages come
//! into being when they are first written to.

use std::ops::Range;

/// Cells of a page.
const PAGE: usize = 1 << 10;

/// One access, in 64 bits; 0 is none. The higher it is, the later the access was, in time as [`Clocks`](super::clocks::Clocks)
/// have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp(pub u64);

/// Set for operations that are made to be concurrent: atomic, volatile, relaxed, acquire, release.
pub(super) const STRONG: u64 = 1 << 31;
/// Set for strong operations that order nothing within a warp: volatile.
pub(super) const VOLATILE: u64 = 1 << 30;
/// Set for strong operations that are so for the threads of their block alone.
pub(super) const IN_BLOCK: u64 = 1 << 29;
const PLACE_BITS: u32 = 19;
/// Instructions beyond this many are taken for the last.
const LAST_PLACE: u32 = (1 << PLACE_BITS) - 1;

impl Stamp {
    pub fn new(time: u32, flags: u64, place: u32, thread: u32) -> Self {
        Self(u64::from(time) << 32 | flags | u64::from(place.min(LAST_PLACE)) << 10 | u64::from(thread & 1023))
    }

    pub fn time(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub fn is_strong(self) -> bool {
        self.0 & STRONG != 0
    }

    pub fn is_volatile(self) -> bool {
        self.0 & VOLATILE != 0
    }

    pub fn is_in_block(self) -> bool {
        self.0 & IN_BLOCK != 0
    }

    pub fn place(self) -> u32 {
        (self.0 >> 10) as u32 & LAST_PLACE
    }

    pub fn thread(self) -> u32 {
        self.0 as u32 & 1023
    }
}

/// One stamp for each cell.
#[derive(Default)]
pub(super) struct Layer {
    pages: Vec<Option<Box<[u64; PAGE]>>>,
}

impl Layer {
    #[inline(always)]
    pub fn get(&self, cell: usize) -> Stamp {
        match self.pages.get(cell / PAGE) {
            Some(Some(page)) => Stamp(page[cell % PAGE]),
            _ => Stamp(0),
        }
    }

    #[inline(always)]
    pub fn set(&mut self, cell: usize, stamp: Stamp) {
        self.page(cell / PAGE)[cell % PAGE] = stamp.0;
    }

    /// 32 neighbouring cells, if they are on one page; `None` where no page is, all are 0.
    #[inline(always)]
    pub fn row(&self, cell: usize) -> Result<Option<&[u64; 32]>, ()> {
        if cell % PAGE > PAGE - 32 {
            return Err(());
        }
        match self.pages.get(cell / PAGE) {
            Some(Some(page)) => Ok(page[cell % PAGE..].first_chunk()),
            _ => Ok(None),
        }
    }

    /// The same, to be written. `cell` has been checked by [`Layer::row`].
    #[inline(always)]
    pub fn row_mut(&mut self, cell: usize) -> Option<&mut [u64; 32]> {
        self.page(cell / PAGE)[cell % PAGE..].first_chunk_mut()
    }

    /// Nobody has accessed these cells.
    pub fn forget(&mut self, cells: Range<usize>) {
        for index in cells.start / PAGE..cells.end.div_ceil(PAGE) {
            if let Some(Some(page)) = self.pages.get_mut(index) {
                let start = index * PAGE;
                page[cells.start.saturating_sub(start)..(cells.end - start).min(PAGE)].fill(0);
            }
        }
    }

    #[inline(always)]
    fn page(&mut self, index: usize) -> &mut [u64; PAGE] {
        if self.pages.len() <= index {
            self.pages.resize_with(index + 1, || None);
        }
        self.pages[index].get_or_insert_with(|| Box::new([0; PAGE]))
    }
}

/// What is known of each cell of an allocation.
#[derive(Default)]
pub(super) struct Shadow {
    /// The last write.
    pub write: Layer,
    /// A read since the last write, and one by another thread.
    pub reads: [Layer; 2],
}
