//! The table of the lab: its variants, its flags, and what it concludes.

use std::path::PathBuf;

use crate::flag_values::{power_of_two, whole_number};
use best_kernels::blocks;
use clap::{Args, ValueEnum};
use device::LaunchConfig;
use kernels::{phases, reduce as kernel};
use picture::Scale;

use crate::labs::showcase::{Showcase, Steps};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{Of, Percent};
use crate::report::measures::{
    ACTIVE_LANES, BANK_CONFLICTS_FIRST, BARRIERS, GBPS, INSTRUCTIONS, INSTRUCTIONS_FIRST, LOAD_REQUESTS,
    SHARED_REQUESTS, SPEEDUP,
};
use crate::report::{
    Better, Bound, Cell, Conclusion, FirstScreen, Goal, Holds, Measure, Removes, Row, Rows, Sweep, Target,
};

/// One of the six steps, one of these in phases, or the best kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// 1 to 6.
    Numbered(u8),
    /// 3 or 6, for sums of `f32`, in blocks of [`phases::REDUCE_BLOCK`].
    Phased(u8),
    /// Many values per thread.
    Best,
}

impl Variants for Step {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("reduce1", "Every second thread adds, then every fourth: divergent warps", Self::Numbered(1)),
        variant("reduce2", "The first threads add, values at strides of 2, 4, ...: bank conflicts", Self::Numbered(2)),
        variant("reduce3", "The first threads add, neighbouring values: no conflicts", Self::Numbered(3)),
        variant("reduce4", "As reduce3, with the first addition while loading: half the blocks", Self::Numbered(4)),
        variant("reduce5", "As reduce4, with the last warp unrolled: fewer barriers", Self::Numbered(5)),
        variant("reduce6", "As reduce5, with shuffles in place of shared memory", Self::Numbered(6)),
        variant("phased3", "As reduce3, in phases: a safe kernel that cannot race; sums of f32", Self::Phased(3))
            .extra(),
        variant("phased6", "As reduce6, in phases", Self::Phased(6)).extra(),
        variant("best", "The fastest on an H200: many values per thread, one launch", Self::Best),
    ];
}

/// The flags of `host reduce`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) variants: Chosen<Step>,
    /// Operations, separated by commas: sum, product, min, max; sums and products of integers are
    /// modulo 2^32
    #[arg(long, value_enum, value_name = "OPERATION,...", value_delimiter = ',', default_values_t = [Operation::Sum],
          hide_possible_values = true)]
    pub(super) operation: Vec<Operation>,
    /// Types of the values, separated by commas: f32, i32
    #[arg(long = "type", value_enum, value_name = "TYPE,...", value_delimiter = ',', default_values_t = [Type::F32],
          hide_possible_values = true)]
    pub(super) types: Vec<Type>,
    /// Values, or several numbers of them, separated by commas; 1000 is the lab sheet's size
    #[arg(long, value_name = "NUMBER,...", value_delimiter = ',', value_parser = whole_number(1, u64::MAX))]
    pub(super) size: Vec<u64>,
    /// Take the vector in this NumPy file instead of a random one; its type is that of --type
    #[arg(long, value_name = "A.npy", conflicts_with = "size")]
    pub(super) input: Option<PathBuf>,
    /// Threads of a block of the six steps: a power of two from 64 to 1024
    #[arg(long, value_name = "NUMBER", default_value_t = 256,
          value_parser = power_of_two(kernel::FEWEST_THREADS, kernel::MOST_THREADS))]
    pub(super) block: u32,
}

/// The reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Operation {
    /// Their sum; of integers, modulo 2^32.
    Sum,
    /// Their product; of integers, modulo 2^32.
    Product,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// The type of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Type {
    /// float32
    F32,
    /// int32
    I32,
}

impl Step {
    /// The threads of its blocks, where `block` is that of the six steps.
    pub(super) fn block(self, block: u32) -> u32 {
        if let Self::Phased(_) = self { phases::REDUCE_BLOCK } else { block }
    }

    /// Whether it has a kernel for this operation on this type.
    pub(super) fn has(self, operation: Operation, ty: Type) -> bool {
        !matches!(self, Self::Phased(_)) || (operation, ty) == (Operation::Sum, Type::F32)
    }

    /// The values that a thread of the step takes first.
    pub(super) fn values_of_a_thread(number: u8) -> usize {
        if number < 4 { 1 } else { 2 }
    }

    /// The blocks of all passes over this many values; `None` where that is not the step's point.
    pub(super) fn blocks(self, size: usize, block: u32) -> Option<usize> {
        let Self::Numbered(number) = self else { return None };
        let of = |count: usize| count.div_ceil(Self::values_of_a_thread(number)).div_ceil(block as usize);
        let passes = std::iter::successors(Some(of(size)), |&left| (left >= block as usize).then(|| of(left)));
        Some(passes.sum())
    }

    /// The most roundings that a value goes through, where `launch` is that of the best kernel.
    pub(super) fn roundings(self, size: usize, block: u32, launch: &LaunchConfig) -> u64 {
        let tree = u64::from(block.ilog2()) + 1;
        match self {
            // A tree in each pass, of which the last leaves less than a block.
            Self::Numbered(_) | Self::Phased(_) => {
                let passes = std::iter::successors(Some(size), |left| Some(left.div_ceil(block as usize)));
                tree * passes.skip(1).take_while(|&left| left >= block as usize).count() as u64 + tree + 1
            }
            // Each thread's values, a tree, the blocks' results, and a tree.
            Self::Best => {
                let tree = u64::from(launch.block[0].ilog2()) + 1;
                blocks::numbers_of_a_thread(size, launch.grid[0]) + 2 * tree + u64::from(launch.grid[0])
            }
        }
    }
}

impl Operation {
    pub(super) fn name(self) -> &'static str {
        ["sum", "product", "min", "max"][self as usize]
    }
}

const REDUCE1: Row = Row::At(&[("step", "reduce1")]);
const REDUCE2: Row = Row::At(&[("step", "reduce2")]);
const REDUCE3: Row = Row::At(&[("step", "reduce3")]);
const REDUCE4: Row = Row::At(&[("step", "reduce4")]);
const REDUCE5: Row = Row::At(&[("step", "reduce5")]);
const REDUCE6: Row = Row::At(&[("step", "reduce6")]);
const BEST: Row = Row::At(&[("step", "best")]);
const LANES: &Measure = &ACTIVE_LANES[0];
const EXECUTED: &Measure = &INSTRUCTIONS[0];

/// A step's cost by size. Its unit is what 32 values take, which one warp could load at once.
pub(super) const SWEEPS: &[Sweep] = &[Sweep {
    x: "size",
    title: "number of values",
    scale: Scale::Log,
    series: &["step", "operation", "type"],
    rows: Rows::All,
    timed: (&GBPS, Scale::Log),
    counted: (&[&OF_32_VALUES], Scale::Linear),
}];

const OF_32_VALUES: Measure = Measure::new(
    EXECUTED.section,
    "instructions_of_32_values",
    &["warp instructions", "for 32 values"],
    EXECUTED.better,
    |variant| {
        let size = variant.fact("size")?.as_f64()?;
        Some(Cell::number(EXECUTED.of(variant)?.value? * 32.0 / size))
    },
);

/// Lanes that do nothing while their warp works.
const IDLE_LANES: Measure =
    Measure::counted(LANES.section, "idle_lanes", &["idle lanes", "of 32"], Better::Lower, |counters| {
        Some(Cell::number(32.0 - counters.active_lanes_per_instruction()?))
    });

/// The fact of the blocks that a row launches, in all its passes.
pub(super) const BLOCKS: &str = "blocks";

const LAUNCHED_BLOCKS: Measure = Measure::new(LANES.section, BLOCKS, &["blocks"], Better::Lower, |variant| {
    Some(Cell::count(variant.fact(BLOCKS)?.as_u64()?))
});

/// Sentences are about one size.
const ONE_SIZE: Holds = Holds::If(|report| report.parameters.contains_key("size"));

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[INSTRUCTIONS_FIRST],
    words: &[("best", "wide words")],
    removes: &[
        Removes { step: "reduce1", what: "", measure: IDLE_LANES },
        Removes { step: "reduce2", what: "idle lanes (of 32, on average)", measure: IDLE_LANES },
        Removes { step: "reduce3", what: "bank conflicts (further wavefronts)", measure: BANK_CONFLICTS_FIRST },
        Removes { step: "reduce4", what: "idle threads (blocks of all passes)", measure: LAUNCHED_BLOCKS },
        Removes { step: "reduce5", what: "barriers (of warps)", measure: BARRIERS },
        Removes { step: "reduce6", what: "shared memory (accesses)", measure: SHARED_REQUESTS },
        Removes { step: "best", what: "global memory (loads)", measure: LOAD_REQUESTS },
    ],
    left_out: &[],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "Against reduce1, reduce2 to reduce6 are {}, {}, {}, {} and {} times as fast (the lab sheet measured 1.60, 1.80, 2.10 and 2.20 \
         for the first four), the best kernel {} times.",
        &[
            Of(REDUCE2, &SPEEDUP),
            Of(REDUCE3, &SPEEDUP),
            Of(REDUCE4, &SPEEDUP),
            Of(REDUCE5, &SPEEDUP),
            Of(REDUCE6, &SPEEDUP),
            Of(BEST, &SPEEDUP),
        ],
    )
    .holds(&[ONE_SIZE, Holds::If(|report| REDUCE1.find(report).is_some())]),
    Conclusion::new(
        "Five steps each remove one waste and leave {} of reduce1's instructions; bank conflicts add time, not instructions. Fewer, wider \
         loads leave {}.",
        &[Percent(REDUCE6, REDUCE1, EXECUTED), Percent(BEST, REDUCE1, EXECUTED)],
    )
    .holds(&[ONE_SIZE]),
    Conclusion::new(
        "reduce6 leaves the last additions to one warp, some of whose lanes are idle: {} active lanes on average, but fewer instructions.",
        &[Of(REDUCE6, LANES), Of(REDUCE5, LANES), Of(REDUCE5, EXECUTED), Of(REDUCE6, EXECUTED)],
    )
    .holds(&[ONE_SIZE, Holds::More(1, 0), Holds::More(2, 3)]),
];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("size", "8192")],
    row: "reduce2-sum-f32",
    beside: "reduce3-sum-f32",
    access: "shared load",
    steps: Some(Steps {
        title: "step",
        rows: &[
            ("reduce1-sum-f32", "1"),
            ("reduce2-sum-f32", "2"),
            ("reduce3-sum-f32", "3"),
            ("reduce4-sum-f32", "4"),
            ("reduce5-sum-f32", "5"),
            ("reduce6-sum-f32", "6"),
        ],
    }),
    goals: &[Goal {
        ask: "Find the first step that takes less than half of the instructions of step 1.",
        row: Row::Named(""),
        measure: &INSTRUCTIONS_FIRST,
        unit: " warp instructions",
        bound: Bound::AtMost(Target::Part(0.5, Row::Named("reduce1-sum-f32"))),
        except: &[],
    }],
    tabled: true,
    ..Showcase::DEFAULTS
};
