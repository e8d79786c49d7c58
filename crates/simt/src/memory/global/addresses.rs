//! The addresses of allocations, and what was freed there.
//!
//! An allocation gets addresses that none had, as long as there are any, so a stale pointer leads to
//! nothing but memory that was freed. Freed addresses wait in a queue, as in AddressSanitizer's
//! quarantine; the oldest leave it when it is long, and are used again once no others are left.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::address::{AllocationSpan, GLOBAL_BASE};

/// The end of the addresses; the host's own libraries are above.
const END: u64 = 0x7800_0000_0000;

/// Allocations start at multiples of this, and are followed by a gap of at least this size.
pub(super) const SPACING: u64 = 1 << 20;

/// How many freed ranges wait.
const WAITING: usize = 1 << 16;

pub(super) struct Addresses {
    /// No range from here on was ever taken.
    next: u64,
    /// What was freed in ranges that nobody has: where it started, and its bytes.
    freed: BTreeMap<u64, u64>,
    /// Freed ranges, the oldest first.
    waiting: VecDeque<Range<u64>>,
    /// Ranges that can be taken again: start and end. No two are adjacent.
    free: BTreeMap<u64, u64>,
}

/// The range that so many bytes at an address take.
fn range(address: u64, bytes: u64) -> Option<Range<u64>> {
    let end = address.checked_add(bytes)?.checked_add(SPACING)?.checked_next_multiple_of(SPACING)?;
    Some(address..end)
}

impl Addresses {
    pub fn new() -> Self {
        Self { next: GLOBAL_BASE, freed: BTreeMap::new(), waiting: VecDeque::new(), free: BTreeMap::new() }
    }

    /// Whether an address is in a range that was ever taken.
    pub fn has_given(&self, address: u64) -> bool {
        (GLOBAL_BASE..self.next).contains(&address)
    }

    /// Takes a range for so many bytes, from a multiple of `alignment`, a power of two, on.
    pub fn take(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        let alignment = alignment.max(SPACING);
        // Not even if all that was freed could be taken again.
        range(GLOBAL_BASE, bytes).filter(|all| all.end <= END)?;
        let fresh = self.next.checked_next_multiple_of(alignment).and_then(|start| range(start, bytes));
        if let Some(fresh) = fresh.filter(|fresh| fresh.end <= END) {
            self.release(self.next..fresh.start);
            self.next = fresh.end;
            return Some(fresh.start);
        }
        loop {
            if let Some(start) = self.take_again(bytes, alignment) {
                return Some(start);
            }
            let half = self.waiting.len().div_ceil(2);
            if half == 0 {
                return None;
            }
            let oldest: Vec<Range<u64>> = self.waiting.drain(..half).collect();
            oldest.into_iter().for_each(|range| self.release(range));
        }
    }

    fn take_again(&mut self, bytes: u64, alignment: u64) -> Option<u64> {
        let (start, end, taken) = self.free.iter().find_map(|(&start, &end)| {
            let taken = range(start.checked_next_multiple_of(alignment)?, bytes)?;
            (taken.end <= end).then_some((start, end, taken))
        })?;
        self.free.remove(&start);
        for rest in [start..taken.start, taken.end..end].into_iter().filter(|rest| !rest.is_empty()) {
            self.free.insert(rest.start, rest.end);
        }
        Some(taken.start)
    }

    /// Gives back a range that was taken for so many bytes.
    pub fn give_back(&mut self, address: u64, bytes: u64) {
        self.waiting.extend(range(address, bytes));
        if self.waiting.len() > WAITING
            && let Some(oldest) = self.waiting.pop_front()
        {
            self.release(oldest);
        }
    }

    /// Lets a range be taken again.
    fn release(&mut self, mut range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        self.forget(range.clone());
        if let Some(end) = self.free.remove(&range.end) {
            range.end = end;
        }
        if let Some((_, end)) = self.free.range_mut(..range.start).next_back()
            && *end == range.start
        {
            *end = range.end;
        } else {
            self.free.insert(range.start, range.end);
        }
    }

    /// Remembers what was freed.
    pub fn remember(&mut self, AllocationSpan { address, bytes }: AllocationSpan) {
        self.freed.insert(address, bytes);
    }

    /// Forgets what was freed in a range.
    pub fn forget(&mut self, range: Range<u64>) {
        let before = self.freed.range(..range.start).next_back();
        let before = before.filter(|(start, bytes)| **start + **bytes > range.start).map(|(&start, _)| start);
        let within: Vec<u64> = self.freed.range(range).map(|(&start, _)| start).chain(before).collect();
        within.iter().for_each(|start| _ = self.freed.remove(start));
    }

    /// What was freed at an address, or nearer to it than allocations are to each other.
    pub fn freed_near(&self, address: u64) -> impl Iterator<Item = AllocationSpan> {
        let span = |(&address, &bytes): (&u64, &u64)| AllocationSpan { address, bytes };
        let (below, above) = (self.freed.range(..=address).next_back(), self.freed.range(address..).next());
        below.into_iter().chain(above).map(span).filter(move |span| span.distance(address) < SPACING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: u64 = 1 << 40;

    /// All addresses, in eight parts less their gaps.
    fn taken() -> (Addresses, Vec<u64>) {
        let mut addresses = Addresses::new();
        let parts = std::iter::from_fn(|| addresses.take(PART - SPACING, 1)).collect();
        (addresses, parts)
    }

    #[test]
    fn addresses_are_used_again_once_no_others_are_left_the_oldest_first() {
        let (mut addresses, parts) = taken();
        assert_eq!(parts, (0..8).map(|part| GLOBAL_BASE + part * PART).collect::<Vec<_>>());
        assert_eq!(addresses.take(1, 1), None);
        for part in [5, 2, 3, 7] {
            addresses.give_back(parts[part], PART - SPACING);
            addresses.remember(AllocationSpan { address: parts[part], bytes: 8 });
        }
        // The older half: two parts side by side after both have left.
        assert_eq!(addresses.take(4096, 1), Some(parts[2]));
        assert_eq!(addresses.take(PART - SPACING, PART), Some(parts[5]));
        let freed = |address| addresses.freed_near(address).map(|span| span.address).collect::<Vec<_>>();
        assert_eq!([2, 5, 3, 7].map(|part| freed(parts[part] + 4).len()), [0, 0, 1, 1]);
        assert_eq!(freed(parts[3] - 4), [parts[3]]);
        assert!(freed(parts[3] + 8 + SPACING).is_empty());
        // What is left of the one and all of the other are one range now.
        assert_eq!(addresses.take(2 * PART - 4 * SPACING, 1), Some(parts[2] + 2 * SPACING));
        assert_eq!(addresses.take(PART - SPACING, 1), Some(parts[7]));
        assert_eq!(addresses.take(0, 1), Some(parts[4] - SPACING));
        assert_eq!(addresses.take(0, 1), None);
    }

    #[test]
    fn the_queue_is_bounded() {
        let mut addresses = Addresses::new();
        for _ in 0..WAITING + 10 {
            let address = addresses.take(8, 1).unwrap();
            addresses.give_back(address, 8);
            addresses.remember(AllocationSpan { address, bytes: 8 });
        }
        assert_eq!((addresses.waiting.len(), addresses.freed.len(), addresses.free.len()), (WAITING, WAITING, 1));
        assert_eq!(addresses.free.iter().next(), Some((&GLOBAL_BASE, &(GLOBAL_BASE + 20 * SPACING))));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut addresses = Addresses::new();
        for (bytes, alignment) in [(u64::MAX, 1), (END - GLOBAL_BASE, 1), (1, 1 << 63), (0, 1 << 46)] {
            assert_eq!(addresses.take(bytes, alignment), None, "{bytes} {alignment}");
        }
        // What an alignment leaves out is for others, in the end.
        let first = addresses.take(0, 1).unwrap();
        assert_eq!(addresses.take(0, 1 << 24), Some(first + (1 << 24)));
        assert_eq!(addresses.free, BTreeMap::from([(first + SPACING, first + (1 << 24))]));
        assert_eq!(addresses.take(END - first - (1 << 24), 1), None);
        assert_eq!(addresses.take(SPACING, 1), Some(first + (1 << 24) + SPACING));
    }
}
