//! A set-associative cache: lines of up to four sectors, each present or not, with
//! least-recently-used replacement, among lines of the lowest priority. Holds no data and knows no
//! addresses, only line numbers.
//!
//! Emptying a cache only sets a mark: lines last used before it count as absent. So a large cache can
//! leave its lines to the next one of the same size, which begins empty without zeroing megabytes.

use std::sync::{Mutex, PoisonError};

use ptx::EvictionPriority;

/// A line that leaves the cache, or its dirty sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evicted {
    /// The line's number: its address over the line's size.
    pub line: u64,
    /// Its sectors that were written but not written back yet.
    pub dirty: u8,
}

/// A cache of lines, without their contents.
pub(super) struct Cache {
    sets: usize,
    ways: usize,
    lines: Vec<Line>,
    clock: u64,
    /// The clock when it was emptied.
    emptied: u64,
}

/// Lines of caches that are gone, and the clock of each.
static SPARE: Mutex<Vec<(Vec<Line>, u64)>> = Mutex::new(Vec::new());

/// Caches with fewer lines are made anew.
const LARGE: usize = 1 << 15;

/// How many are kept: those of an L2 of two partitions, for two threads.
const MOST_SPARE: usize = 4;

#[derive(Clone, Copy, Default, bytemuck::Zeroable)]
struct Line {
    number: u64,
    /// When the line was last used. Empty entries were not since the cache was emptied.
    used: u64,
    present: u8,
    dirty: u8,
    /// Those of the lowest rank are evicted first.
    rank: u8,
}

/// Where the rank begins in what is compared for eviction.
const RANK: u32 = 62;

impl Line {
    /// The line of the set for which this is least is evicted: an empty one, if there is one.
    fn order(&self, emptied: u64) -> u64 {
        if self.used > emptied { u64::from(self.rank) << RANK | self.used } else { self.used }
    }
}

/// The rank of a line with this priority, given the rank before.
fn rank_of(priority: EvictionPriority, before: u8) -> u8 {
    match priority {
        EvictionPriority::First => 0,
        EvictionPriority::Normal => NORMAL,
        EvictionPriority::Last => 2,
        EvictionPriority::Unchanged => before,
    }
}

/// The rank of ordinary lines.
const NORMAL: u8 = 1;

impl Cache {
    /// A cache of `lines` lines in sets of `ways`, all empty. New ones are zeroes, of which the
    /// operating system commits pages on first use: most launches use few of a GPU's lines.
    pub fn new(lines: usize, ways: usize) -> Self {
        let sets = (lines / ways.max(1)).max(1);
        let count = sets * ways.max(1);
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = spare.iter().position(|(lines, _)| lines.len() == count).map(|index| spare.swap_remove(index));
        drop(spare);
        let (lines, clock) = kept.unwrap_or_else(|| (bytemuck::zeroed_vec(count), 0));
        Self { sets, ways: ways.max(1), lines, clock, emptied: clock }
    }

    /// The set of a line. Each run of as many lines as there are sets has one line in each set,
    /// rotated by a different amount for each run, so that strides of powers of two do not collide.
    fn set(&mut self, line: u64) -> &mut [Line] {
        let sets = self.sets as u64;
        let (run, within) = (line / sets, line % sets);
        let rotation = (run.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 % self.sets as u32;
        let set = within as usize + rotation as usize;
        let set = if set < self.sets { set } else { set - self.sets };
        let first = set * self.ways;
        &mut self.lines[first..first + self.ways]
    }

    /// The sectors of a line that are present. Marks the line as used.
    #[inline]
    pub fn look_up(&mut self, line: u64) -> u8 {
        self.look_up_as(line, EvictionPriority::Unchanged)
    }

    /// The same, and gives the line a priority.
    #[inline]
    pub fn look_up_as(&mut self, line: u64, priority: EvictionPriority) -> u8 {
        self.clock += 1;
        let (clock, emptied) = (self.clock, self.emptied);
        let Some(found) = self.set(line).iter_mut().find(|entry| entry.used > emptied && entry.number == line) else {
            return 0;
        };
        (found.used, found.rank) = (clock, rank_of(priority, found.rank));
        found.present
    }

    /// Puts sectors of a line into the cache; `dirty` ones must be written back later. Returns what
    /// is evicted.
    pub fn insert(&mut self, line: u64, sectors: u8, dirty: u8) -> Option<Evicted> {
        self.insert_as(line, (sectors, dirty), EvictionPriority::Unchanged)
    }

    /// The same, and gives the line a priority.
    pub fn insert_as(&mut self, line: u64, (sectors, dirty): (u8, u8), priority: EvictionPriority) -> Option<Evicted> {
        self.clock += 1;
        let (clock, emptied) = (self.clock, self.emptied);
        let set = self.set(line);
        // Of those with the lowest rank the entry that was used least recently.
        let (mut oldest, mut since) = (0, u64::MAX);
        for (index, entry) in set.iter_mut().enumerate() {
            if entry.used > emptied && entry.number == line {
                (entry.used, entry.rank) = (clock, rank_of(priority, entry.rank));
                entry.present |= sectors;
                entry.dirty |= dirty;
                return None;
            }
            let order = entry.order(emptied);
            if order < since {
                (oldest, since) = (index, order);
            }
        }
        let new = Line { number: line, used: clock, present: sectors, dirty, rank: rank_of(priority, NORMAL) };
        let old = std::mem::replace(&mut set[oldest], new);
        (old.used > emptied).then_some(Evicted { line: old.number, dirty: old.dirty })
    }

    /// Drops all lines. None may be dirty.
    pub fn drop_lines(&mut self) {
        self.emptied = self.clock;
    }

    /// Drops a line. None of its sectors may be dirty: they would be lost.
    pub fn drop_line(&mut self, line: u64) {
        let emptied = self.emptied;
        if let Some(entry) = self.set(line).iter_mut().find(|entry| entry.used > emptied && entry.number == line) {
            *entry = Line::default();
        }
    }

    /// Drops all lines, and returns those with dirty sectors.
    #[cfg(test)]
    pub fn clear(&mut self) -> Vec<Evicted> {
        let dirty = self.lines.iter().filter(|entry| entry.used > self.emptied && entry.dirty != 0);
        let dirty = dirty.map(|entry| Evicted { line: entry.number, dirty: entry.dirty }).collect();
        self.drop_lines();
        dirty
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        if self.lines.len() >= LARGE {
            let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
            if spare.len() == MOST_SPARE {
                spare.remove(0);
            }
            spare.push((std::mem::take(&mut self.lines), self.clock));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_hash::FxHashMap;

    use proptest::prelude::*;

    #[test]
    fn the_least_recently_used_line_leaves() {
        let mut cache = Cache::new(2, 2);
        assert_eq!(cache.insert(1, 0b0001, 0), None);
        assert_eq!(cache.insert(2, 0b1000, 0b1000), None);
        assert_eq!(cache.look_up(1), 1);
        assert_eq!(cache.insert(3, 0b1111, 0), Some(Evicted { line: 2, dirty: 0b1000 }));
        assert_eq!((cache.look_up(1), cache.look_up(2), cache.look_up(3)), (1, 0, 0b1111));
        assert_eq!(cache.insert(1, 0b0100, 0b0100), None);
        assert_eq!(cache.look_up(1), 0b0101);
        assert_eq!(cache.clear(), [Evicted { line: 1, dirty: 0b0100 }]);
        assert_eq!(cache.look_up(1), 0);
    }

    #[test]
    fn a_cache_that_is_emptied_or_made_of_another_ones_lines_is_empty() {
        for _ in 0..3 {
            let mut cache = Cache::new(LARGE, 2);
            for line in 0..LARGE as u64 {
                assert_eq!((cache.look_up(line), cache.insert(line, 1, 1)), (0, None));
            }
            cache.drop_lines();
            assert_eq!((cache.look_up(5), cache.insert(5, 2, 0), cache.look_up(5)), (0, None, 2));
            cache.drop_line(5);
            assert_eq!((cache.look_up(5), cache.clear()), (0, vec![]));
        }
    }

    #[test]
    fn priorities_come_before_the_time_of_use() {
        use EvictionPriority::{First, Last, Normal, Unchanged};
        let mut cache = Cache::new(3, 3);
        let evicted = |found: Option<Evicted>| found.map(|evicted| evicted.line);
        assert_eq!(cache.insert_as(1, (1, 0), Last), None);
        assert_eq!(cache.insert_as(2, (1, 0), Unchanged), None);
        assert_eq!(cache.insert_as(3, (1, 0), First), None);
        // Line 3 was used last, but goes first; line 1 stays, whoever uses it.
        assert_eq!(cache.look_up(1), 1);
        assert_eq!(evicted(cache.insert(4, 1, 0)), Some(3));
        assert_eq!(evicted(cache.insert(5, 1, 0)), Some(2));
        assert_eq!(evicted(cache.insert(6, 1, 0)), Some(4));
        // Unless it is made an ordinary line, or all are to stay.
        assert_eq!(cache.look_up_as(1, Normal), 1);
        assert_eq!(evicted(cache.insert_as(7, (1, 0), Last)), Some(5));
        assert_eq!(evicted(cache.insert_as(8, (1, 0), Last)), Some(6));
        assert_eq!(evicted(cache.insert_as(9, (1, 0), Last)), Some(1));
        assert_eq!(evicted(cache.insert(10, 1, 0)), Some(7));
    }

    #[test]
    fn a_line_competes_within_its_set() {
        let mut cache = Cache::new(8, 2);
        for line in 0..8 {
            assert_eq!(cache.insert(line, 1, 0), None);
        }
        // Four more have one set each; of the two lines there, the first four's was used least
        // recently.
        let mut left: Vec<_> = (8..12).filter_map(|line| cache.insert(line, 1, 0)).map(|left| left.line).collect();
        left.sort_unstable();
        assert_eq!(left, [0, 1, 2, 3]);
        cache.drop_line(4);
        assert_eq!((12..16).filter_map(|line| cache.insert(line, 1, 0)).count(), 3);
    }

    proptest! {
        /// A cache as large as the working set evicts nothing. No cache invents a sector or loses a
        /// dirty one.
        #[test]
        fn nothing_is_lost(operations in prop::collection::vec((0u64..64, 1u8..16, any::<bool>()), 0..300), ways in 1usize..5) {
            let mut small = Cache::new(16, ways);
            let mut large = Cache::new(64, 64);
            let mut written: FxHashMap<u64, u8> = FxHashMap::default();
            let mut present: FxHashMap<u64, u8> = FxHashMap::default();
            for (line, sectors, dirty) in operations {
                let expected = present.get(&line).copied().unwrap_or(0);
                prop_assert_eq!(large.look_up(line), expected);
                let found = small.look_up(line);
                prop_assert_eq!(found & !expected, 0);
                let dirty = if dirty { sectors } else { 0 };
                prop_assert_eq!(large.insert(line, sectors, dirty), None);
                *present.entry(line).or_default() |= sectors;
                *written.entry(line).or_default() |= dirty;
                if let Some(evicted) = small.insert(line, sectors, dirty) {
                    let left = written.entry(evicted.line).or_default();
                    prop_assert_eq!(*left, evicted.dirty);
                    *left = 0;
                }
            }
            for evicted in small.clear() {
                prop_assert_eq!(written.remove(&evicted.line), Some(evicted.dirty));
            }
            prop_assert!(written.values().all(|&sectors| sectors == 0));
        }
    }
}
