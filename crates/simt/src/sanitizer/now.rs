//! What all threads of a block know of each other, as the fast paths need it.

use super::clocks::Clocks;
use super::stamp::THREAD;

/// What earlier stamps are held against.
#[derive(Clone, Copy)]
pub(super) struct Now {
    /// Stamps from here to less than the sum are of this block, and known to all its threads. Shared memory has none of
    /// other blocks: older stamps mean nothing there.
    pub from: u64,
    pub ordered: u64,
    /// Stamps below are of other blocks.
    pub start: u64,
    /// Whether no thread knows more of the others than all do.
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

    /// Whether an entry is of nothing, or of what all threads know.
    #[inline(always)]
    pub fn is_ordered(self, entry: u64) -> bool {
        (entry == 0) | (entry.wrapping_sub(self.from) < self.ordered)
    }

    /// Whether an entry is that, or of the thread of a stamp itself.
    #[inline(always)]
    pub fn is_fine(self, entry: u64, stamp: u64) -> bool {
        self.is_ordered(entry) | ((entry ^ stamp) & THREAD == 0) & (entry >= self.from)
    }

    /// Whether entries up to this one are fine for whatever thread.
    #[inline(always)]
    pub fn is_fine_for_all(self, last: u64) -> bool {
        last == 0 || self.from == 0 && last < self.ordered
    }

    #[inline(always)]
    pub fn is_older(self, entry: u64) -> bool {
        entry < self.start
    }
}
