//! What all threads of a block know at present, in the form that the fast paths of the race
//! detector need.

use super::clocks::Clocks;
use super::stamp::THREAD;

/// The bounds that earlier stamps are compared with.
#[derive(Clone, Copy)]
pub(super) struct Now {
    /// Stamps from `from` to less than `from + ordered` are of this block, and known to all its
    /// threads. For shared memory, `from` is 0: the accesses of other blocks do not matter there.
    pub from: u64,
    pub ordered: u64,
    /// Lower stamps are of other blocks.
    pub start: u64,
    /// Whether no thread knows more than all threads do.
    pub all_know_the_same: bool,
}

impl Now {
    #[inline(always)]
    pub fn new(clocks: &Clocks, allocation: Option<usize>) -> Self {
        let &Clocks { start, floor, .. } = clocks;
        let from = if allocation.is_some() { start } else { 0 };
        Self {
            from: u64::from(from) << 32,
            ordered: u64::from((floor + 1).saturating_sub(from)) << 32,
            start: u64::from(start) << 32,
            all_know_the_same: clocks.all_know_the_same(),
        }
    }

    /// Whether an entry is empty, or an access that all threads know.
    #[inline(always)]
    pub fn is_ordered(self, entry: u64) -> bool {
        (entry == 0) | (entry.wrapping_sub(self.from) < self.ordered)
    }

    /// Whether an entry is ordered, or an access by the same thread as the stamp's.
    #[inline(always)]
    pub fn is_fine(self, entry: u64, stamp: u64) -> bool {
        self.is_ordered(entry) | ((entry ^ stamp) & THREAD == 0) & (entry >= self.from)
    }

    /// Whether all entries up to this one are fine for every thread.
    #[inline(always)]
    pub fn is_fine_for_all(self, last: u64) -> bool {
        last == 0 || self.from == 0 && last < self.ordered
    }

    #[inline(always)]
    pub fn is_older(self, entry: u64) -> bool {
        entry < self.start
    }
}
