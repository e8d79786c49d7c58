//! Which clusters of a grid run when only the launch's time is wanted, and for how long.
//!
//! A small grid runs entirely. Of a larger grid, a sample runs: *stretches* of consecutive
//! clusters, spread over the grid. If the grid has enough rows, a stretch is a tile of it, since L2
//! keeps lines for many rows, and clusters share lines with neighbours on all sides. The first and
//! the last stretch run first, then each further one in a wide gap between others, so that a few
//! stretches already represent the grid.
//!
//! The sample has a limit of instructions. Beyond it, only the traced multiprocessor continues, to
//! complete its traces. Beyond a second limit, one of its blocks runs to its end without the model,
//! which shows what part of a block the traces cover. Beyond a third, no time is predicted. Scattered
//! accesses have limits of their own, in sectors: the host takes longer for them than for the
//! instructions.

/// Rounds of resident clusters that run.
const ROUNDS: u64 = 4;
/// Stretches in each round.
const STRETCHES: u64 = 4;
/// Warp instructions, at most, that the whole chip executes, and then the first neighbourhood
/// alone; and those of a grid whose clusters wait for each other.
const ALL: u64 = 3 << 20;
const ALONE: u64 = 6 << 20;
const TOGETHER: u64 = 32 << 20;
/// Sectors of L2 until then. Only kernels whose instructions are mostly scattered accesses reach it.
const ALL_SECTORS: u64 = 12 << 20;
const ALONE_SECTORS: u64 = 6 << 20;
const TOGETHER_SECTORS: u64 = 18 << 20;
/// Instructions, at most, of the block that runs to its end off the model.
pub(super) const ONE: u64 = 64 << 20;

/// The clusters of a launch that run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    total: u64,
    /// Stretches, and the clusters of each.
    stretches: u64,
    length: u64,
    /// Clusters in a row of the grid; and if stretches are tiles, their columns and rows.
    columns: u64,
    tile: Option<(u64, u64)>,
    /// Warp instructions so far, at most.
    executed: u64,
    phase: Phase,
    limit: Limit,
}

/// How much may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    None,
    /// [`ALL`], then [`ALONE`].
    Some,
    /// [`TOGETHER`].
    Together,
}

/// Who runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Phase {
    /// All clusters.
    All,
    /// Those of the first neighbourhood that run already.
    Alone,
    /// Nobody: it takes too long.
    Over,
}

impl Sample {
    /// All clusters of a grid.
    pub fn whole(total: u64) -> Self {
        let (columns, tile) = (total, None);
        Self { total, stretches: 1, length: total, columns, tile, executed: 0, phase: Phase::All, limit: Limit::None }
    }

    /// All of them, unless they take too long to be timed.
    pub fn together(total: u64) -> Self {
        Self { limit: Limit::Together, ..Self::whole(total) }
    }

    /// Some of them, if `slots` run at a time, the grid has so many in a row, and multiprocessors
    /// share an L2 or not.
    pub fn some(total: u64, slots: u64, columns: u64, shared: bool) -> Self {
        // Without L2, what counts is which clusters run at once: all of them are neighbours.
        let stretches = if shared { STRETCHES } else { 1 };
        let (length, stretches) = (slots.div_ceil(stretches).max(1), ROUNDS * stretches);
        if total <= length * stretches {
            return Self { limit: Limit::Some, ..Self::whole(total) };
        }
        let power = |most: u64| 1 << most.max(1).ilog2();
        let across: u64 = power(length.isqrt().min(columns));
        let down: u64 = power(length / across);
        // Each tile has rows to itself.
        match shared && total / columns >= down * stretches && down > 1 {
            true => {
                let (length, tile) = (across * down, Some((across, down)));
                Self { stretches, length, columns, tile, limit: Limit::Some, ..Self::whole(total) }
            }
            false => Self { stretches, length, limit: Limit::Some, ..Self::whole(total) },
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.stretches * self.length
    }

    /// The number in the grid of one of them.
    pub fn cluster(&self, index: u64) -> u64 {
        let (nth, within) = (index / self.length.max(1), index % self.length.max(1));
        let stretch = match nth {
            0 => 0,
            1 => self.stretches - 1,
            // Their number is a power of two.
            _ => (nth - 1).reverse_bits() >> (u64::BITS - self.stretches.ilog2()),
        };
        match (self.stretches, self.tile) {
            (1, _) => index,
            (stretches, Some((across, down))) => {
                // At multiples of their size, as the data of whole rows of DRAM is.
                let spread = |room: u64, step: u64, size: u64| {
                    (u128::from(room - size) * u128::from(step) / u128::from(stretches - 1)) as u64 / size * size
                };
                let row = spread(self.total / self.columns, stretch, down) + within / across;
                // A permutation of the stretches: rows and columns vary apart.
                let column = spread(self.columns, stretch * 7 % stretches, across) + within % across;
                row * self.columns + column
            }
            (stretches, None) => {
                let room = u128::from(self.total - self.length);
                (room * u128::from(stretch) / u128::from(stretches - 1)) as u64 + within
            }
        }
    }

    /// How much of the grid its first `begun` clusters reach over: once the second stretch has run,
    /// all.
    pub fn reach(&self, begun: u64) -> f64 {
        let furthest = begun.min(self.count()).min(2 * self.length);
        let last = furthest.checked_sub(1).map_or(0, |last| self.cluster(last) + 1);
        last as f64 / self.total.max(1) as f64
    }

    /// Who runs now.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether half of what the whole chip may execute has been.
    pub fn is_halfway(&self) -> bool {
        self.executed > ALL / 2
    }

    /// Whether it ended with beginnings of blocks, which do not wait for other blocks.
    pub fn has_beginnings(&self) -> bool {
        self.limit == Limit::Some && self.phase == Phase::Over
    }

    /// At most this many warp instructions were executed, and all together have asked L2 for so many
    /// sectors. Returns whether fewer run from now on.
    pub fn executed(&mut self, instructions: u64, sectors: u64) -> bool {
        self.executed += instructions;
        let beyond = |most: u64, most_sectors: u64| self.executed > most || sectors > most_sectors;
        let phase = match (self.limit, self.phase) {
            (Limit::Some, Phase::All) if beyond(ALL, ALL_SECTORS) => Phase::Alone,
            (Limit::Some, Phase::Alone) if beyond(ALL + ALONE, ALL_SECTORS + ALONE_SECTORS) => Phase::Over,
            (Limit::Together, _) if beyond(TOGETHER, TOGETHER_SECTORS) => Phase::Over,
            (_, phase) => phase,
        };
        std::mem::replace(&mut self.phase, phase) != phase
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of all clusters of a sample, in the grid's order.
    fn sorted(sample: &Sample) -> Vec<u64> {
        let mut all: Vec<u64> = (0..sample.count()).map(|index| sample.cluster(index)).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn samples_are_distinct_and_reach_the_end_with_the_second_stretch() {
        for (total, slots) in [(1, 1), (5, 1000), (4096, 264), (1 << 20, 1056), (1 << 31, 132), (17, 1), (100, 6)] {
            let sample = Sample::some(total, slots, total, true);
            let all = sorted(&sample);
            assert_eq!(sample.reach(sample.count().min(2 * sample.length)), 1.0, "{total} {slots}");
            assert!(all.is_sorted_by(|one, other| one < other), "{total} {slots}");
            assert_eq!((all[0], all[all.len() - 1]), (0, total - 1), "{total} {slots}");
        }
    }

    #[test]
    fn tiles_are_distinct_and_within_the_grid() {
        for (columns, rows, slots) in [(512, 512, 264), (256, 256, 1056), (1, 1 << 20, 264), (1 << 16, 1024, 132)] {
            let sample = Sample::some(columns * rows, slots, columns, true);
            assert!(sample.tile.is_some());
            let all = sorted(&sample);
            assert!(all.is_sorted_by(|one, other| one < other), "{columns} {rows} {slots}");
            assert!(all[0] < columns && all[all.len() - 1] / columns == rows - 1, "{columns} {rows} {slots}");
        }
    }

    #[test]
    fn without_l2_all_that_run_at_once_are_neighbours() {
        let sample = Sample::some(64 * 64, 120, 64, false);
        assert_eq!((sample.count(), sample.tile), (480, None));
        let first: Vec<u64> = (0..120).map(|index| sample.cluster(index)).collect();
        assert_eq!(first, (0..120).collect::<Vec<_>>());
    }

    #[test]
    fn a_long_launch_goes_on_alone_and_ends() {
        let mut sample = Sample::some(1 << 20, 1056, 1 << 20, true);
        assert!(!sample.executed(ALL, 0) && sample.executed(1, 0) && sample.phase() == Phase::Alone);
        assert!(!sample.executed(1, 0) && sample.executed(ALONE, 0) && sample.phase() == Phase::Over);
        let mut whole = Sample::whole(1 << 20);
        assert!(!whole.executed(u64::MAX / 2, u64::MAX) && whole.phase() == Phase::All);
        let mut together = Sample::together(264);
        assert!(!together.executed(TOGETHER, 0) && together.executed(1, 0) && together.phase() == Phase::Over);
    }

    #[test]
    fn scattered_accesses_end_it_before_its_instructions_do() {
        let mut sample = Sample::some(1 << 20, 1056, 1 << 20, true);
        assert!(!sample.executed(1, ALL_SECTORS) && sample.executed(1, ALL_SECTORS + 1));
        let both = ALL_SECTORS + ALONE_SECTORS;
        assert!(!sample.executed(1, both) && sample.executed(1, both + 1) && sample.phase() == Phase::Over);
        assert!(Sample::together(264).executed(1, TOGETHER_SECTORS + 1));
    }
}
