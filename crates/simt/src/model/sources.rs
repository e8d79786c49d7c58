//! What DRAM read for each instruction, and how much of it the rest of a launch will read again.

use rustc_hash::FxHashMap;

/// What an instruction made DRAM read.
#[derive(Clone, Copy, Default)]
pub(super) struct Source {
    /// Pairs of sectors, and those of them that were never read before.
    pub pairs: u64,
    pub first: u64,
    /// The first line and the last.
    pub lines: (u64, u64),
    /// Those when half of the sample had run.
    halfway: Option<(u64, u64)>,
}

/// What each instruction made DRAM read.
#[derive(Clone, Default)]
pub(crate) struct Sources(FxHashMap<u32, Source>);

/// How much more a launch is than a sample of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// How many times as many blocks it has as ran.
    pub blocks: f64,
    /// How many times as long its blocks are as what ran of them.
    pub length: f64,
    /// The part of the grid over which the blocks that ran reach.
    pub reach: f64,
}

impl Sources {
    /// DRAM was read for an instruction.
    pub(super) fn add(&mut self, place: u32, more: Source) {
        let source = self.0.entry(place).or_insert(Source { lines: more.lines, ..Source::default() });
        source.pairs += more.pairs;
        source.first += more.first;
        source.lines = (source.lines.0.min(more.lines.0), source.lines.1.max(more.lines.1));
    }

    /// Half of the sample has run.
    pub fn halfway(&mut self) {
        self.0.values_mut().for_each(|source| source.halfway = Some(source.lines));
    }

    /// Of the misses of each instruction, the part that remains in a launch that is so much more. A
    /// region that stays in L2, of `stays` bytes at most, is read once, however few blocks have
    /// run. It has all lines from the first that DRAM read for some instructions to the last, and
    /// may have more where the blocks that ran reach over a part of the grid only, or go on: then
    /// it grows as it did in the second half of what ran.
    pub fn remaining_misses(&self, growth: Growth, stays: f64) -> FxHashMap<u32, f64> {
        let mut sources: Vec<(u32, Source)> = self.0.iter().map(|(&place, &source)| (place, source)).collect();
        sources.sort_unstable_by_key(|&(place, source)| (source.lines, place));
        let mut remaining = FxHashMap::default();
        while let Some(&(_, Source { lines: (start, mut end), .. })) = sources.first() {
            let mut count = 0;
            while let Some((_, next)) = sources.get(count).filter(|(_, next)| next.lines.0 <= end) {
                end = end.max(next.lines.1);
                count += 1;
            }
            let region: Vec<_> = sources.drain(..count).collect();
            let extent = |lines: (u64, u64)| (lines.1 - lines.0 + 1) as f64;
            let halfway = region.iter().filter_map(|(_, source)| source.halfway);
            let halfway = halfway.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).map_or(0.0, extent);
            let lines = extent((start, end));
            let lines = (lines + 2.0 * (lines - halfway) * (growth.length - 1.0)) / growth.reach.max(1e-9);
            let first: u64 = region.iter().map(|(_, source)| source.first).sum();
            let part = match lines * 128.0 <= stays {
                true => (lines * 2.0 / (first as f64 * growth.blocks * growth.length).max(1.0)).min(1.0),
                false => 1.0,
            };
            remaining.extend(region.iter().map(|&(place, Source { first, pairs, .. })| {
                let first = first as f64 / pairs as f64;
                (place, 1.0 - first + first * part)
            }));
        }
        remaining
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sources: &mut Sources, place: u32, line: u64) {
        sources.add(place, Source { pairs: 2, first: 2, lines: (line, line), halfway: None });
    }

    #[test]
    fn a_table_is_read_once_and_a_stream_as_long_as_it_is() {
        let mut sources = Sources::default();
        // Half of a table of 1000 lines, and an eighth of a stream of 8000.
        (0..500).for_each(|line| read(&mut sources, 1, 2 * line));
        (0..1000).for_each(|line| read(&mut sources, 2, 10_000 + line + line / 500 * 7000));
        let growth = Growth { blocks: 8.0, length: 1.0, reach: 1.0 };
        let remaining = sources.remaining_misses(growth, 1e6);
        assert!((remaining[&1] - 0.25).abs() < 0.01 && (remaining[&2] - 1.0).abs() < 0.01, "{remaining:?}");
        assert_eq!(sources.remaining_misses(growth, 1e3)[&1], 1.0);
    }

    #[test]
    fn what_blocks_read_as_they_go_on_tells_a_table_from_a_stream() {
        let mut sources = Sources::default();
        let half = |sources: &mut Sources, half: u64| {
            (0..100).for_each(|line| read(sources, 1, 10 * line + half));
            (0..500).for_each(|line| read(sources, 2, 10_000 + 500 * half + line));
        };
        half(&mut sources, 0);
        sources.halfway();
        half(&mut sources, 1);
        // A hundred times as long: the table stays, and the stream is longer than L2.
        let remaining = sources.remaining_misses(Growth { blocks: 1.0, length: 100.0, reach: 1.0 }, 1e6);
        assert!(remaining[&1] < 0.1 && remaining[&2] == 1.0, "{remaining:?}");
    }
}
