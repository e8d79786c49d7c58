//! The table of the lab: statistics, methods and layouts with their kernels, its flags, and what it
//! concludes.

use crate::flag_values::power_of_two;
use best_kernels::rows as best;
use clap::Args;
use cuda_std::launch::{self, Kernel, Pointer, PointerMut, SafeKernel};
use kernels::{phases, rows as kernel, rows_all as others};
use simt::prediction::Bound;

use crate::labs::inputs::MatrixFlags;
use crate::labs::showcase::{Showcase, Steps};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{self, AsFast, Of, Times};
use crate::report::measures::{A_LOAD_IN_UNITS, PREDICTED_TIME, SECTORS_A_LOAD, THREADS_FIRST, TRANSACTIONS_A_LOAD};
use crate::report::{self, Conclusion, Cost, FirstScreen, Goal, Holds, LabReport, Measure, Row, Target};

/// A kernel of the course: the matrix, and the results.
pub(super) type Plain = SafeKernel<(launch::Matrix<f32>, launch::DisjointSlice<f32>)>;
/// A kernel with several lanes per row: the matrix, the results, rows, columns, pitch.
pub(super) type Lanes = Kernel<(Pointer<f32>, PointerMut<f32>, u32, u32, u32)>;
/// A kernel with several blocks per row: the matrix, the results, columns, pitch, blocks per row,
/// slots.
pub(super) type Blocks = Kernel<(Pointer<f32>, PointerMut<f32>, u32, u32, u32, PointerMut<u64>)>;

/// What is computed of each row or column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    Sum,
    Mean,
    Max,
    Min,
    Squares,
    ColumnMeans,
}

/// A statistic, with its kernels.
#[derive(Clone, Copy)]
pub(super) struct Statistic {
    pub(super) task: Task,
    /// A thread for each row or column.
    pub(super) global: &'static Plain,
    /// A block for each row, or eight threads for each column.
    pub(super) shared: &'static Plain,
    /// The same in phases.
    pub(super) phased: &'static Plain,
    /// The best kernels: with 8 and 32 lanes per row, and with blocks.
    pub(super) best: Option<(&'static Lanes, &'static Lanes, &'static Blocks)>,
}

const SUM: Statistic = Statistic {
    task: Task::Sum,
    global: &kernel::rows_sum_global,
    shared: &kernel::rows_sum_shared,
    phased: &phases::rows_sum_phased,
    best: Some((&best::rows_sum_lanes8, &best::rows_sum_lanes32, &best::rows_sum_blocks)),
};
const MEAN: Statistic = Statistic {
    task: Task::Mean,
    global: &others::rows_mean_global,
    shared: &others::rows_mean_shared,
    phased: &others::rows_mean_phased,
    best: Some((&best::rows_mean_lanes8, &best::rows_mean_lanes32, &best::rows_mean_blocks)),
};
const MAX: Statistic = Statistic {
    task: Task::Max,
    global: &others::rows_max_global,
    shared: &others::rows_max_shared,
    phased: &others::rows_max_phased,
    best: Some((&best::rows_max_lanes8, &best::rows_max_lanes32, &best::rows_max_blocks)),
};
const MIN: Statistic = Statistic {
    task: Task::Min,
    global: &others::rows_min_global,
    shared: &others::rows_min_shared,
    phased: &others::rows_min_phased,
    best: Some((&best::rows_min_lanes8, &best::rows_min_lanes32, &best::rows_min_blocks)),
};
const SQUARES: Statistic = Statistic {
    task: Task::Squares,
    global: &others::rows_squares_global,
    shared: &others::rows_squares_shared,
    phased: &others::rows_squares_phased,
    best: Some((&best::rows_squares_lanes8, &best::rows_squares_lanes32, &best::rows_squares_blocks)),
};
const COLUMN_MEANS: Statistic = Statistic {
    task: Task::ColumnMeans,
    global: &kernel::rows_column_means_global,
    shared: &kernel::rows_column_means_shared,
    phased: &phases::rows_column_means_phased,
    best: None,
};

impl Variants for Statistic {
    const TITLE: &'static str = "Statistics";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("sum", "The sum of each row", SUM),
        variant("mean", "The mean of each row", MEAN).extra(),
        variant("max", "The greatest element of each row", MAX).extra(),
        variant("min", "The least element of each row", MIN).extra(),
        variant("squares", "The sum of the squares of each row", SQUARES).extra(),
        variant("column-means", "The mean of each column", COLUMN_MEANS),
    ];
}

/// How the results are computed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Global,
    Shared,
    Phased,
    Best,
}

impl Variants for Method {
    const TITLE: &'static str = "Methods";
    #[rustfmt::skip]
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("global", "A thread for each row or column, from global memory", Self::Global),
        variant("shared", "A block for each row, or eight threads for each column, combined in shared memory", Self::Shared),
        variant("phased", "As shared, in phases, blocks of 256: safe kernels that cannot race", Self::Phased).extra(),
        variant("best", "The fastest on an H200: as many lanes or blocks for each as suit the matrix", Self::Best),
    ];
}

/// How the matrix is stored: its index in [`super::Data`].
#[derive(Clone, Copy)]
pub(super) struct Layout(pub(super) usize);

impl Variants for Layout {
    const TITLE: &'static str = "Layouts";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("linear", "Rows directly after each other", Self(0)),
        variant("pitched", "Rows that each start at the device's preferred alignment", Self(1)).extra(),
    ];
}

/// The flags of `host rows`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) statistics: Chosen<Statistic>,
    #[command(flatten)]
    pub(super) methods: Chosen<Method>,
    #[command(flatten)]
    pub(super) layouts: Chosen<Layout>,
    /// All statistics and both layouts
    #[arg(long)]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) matrix: MatrixFlags,
    /// Threads of a block of --global and --shared: a power of two from 32 to 1024
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = power_of_two(32, 1024))]
    pub(super) block: u32,
}

const GLOBAL: Row = Row::Named("sum-global-linear");
const SHARED: Row = Row::Named("sum-shared-linear");
const MEANS_GLOBAL: Row = Row::Named("column-means-global-linear");
const MEANS_SHARED: Row = Row::Named("column-means-shared-linear");

/// What a row's thread and a row's block cost, and how many more threads there are.
const TIMES: &[Gap] = &[
    Of(GLOBAL, &A_LOAD_IN_UNITS),
    Of(GLOBAL, &PREDICTED_TIME),
    Of(SHARED, &A_LOAD_IN_UNITS),
    Of(SHARED, &PREDICTED_TIME),
    Times(SHARED, GLOBAL, &THREADS_FIRST),
];

/// Whether a block for each row gains more than its loads take fewer sectors.
fn gains_by_threads(report: &LabReport) -> bool {
    let ratio = |measure: &Measure| {
        let of = |row: Row| measure.of(row.find(report)?)?.value;
        Some(of(GLOBAL)? / of(SHARED)?)
    };
    ratio(&PREDICTED_TIME).zip(ratio(&A_LOAD_IN_UNITS)).is_some_and(|(times, sectors)| times > 1.2 * sectors)
}

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[SECTORS_A_LOAD, TRANSACTIONS_A_LOAD, THREADS_FIRST],
    words: &[("global", "a thread for each"), ("shared", "many threads for each"), ("best", "as many threads as suit")],
    removes: &[],
    left_out: &["best"],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "A block for each row is {} as a thread for each; eight threads for each column are {} as one. The best kernels are {} and {} as \
         these.",
        &[
            AsFast(SHARED, GLOBAL),
            AsFast(MEANS_SHARED, MEANS_GLOBAL),
            AsFast(Row::Named("sum-best-linear"), SHARED),
            AsFast(Row::Named("column-means-best-linear"), MEANS_SHARED),
        ],
    ),
    Conclusion::new(
        "With a thread for each row, a warp reads down a column: {} a load, {}. With a block for each row it reads along the row: {}, {}; \
         {} times the threads do the rest. For column means, a thread for each column reads along rows, too.",
        TIMES,
    )
    .holds(&[Holds::More(0, 2), Holds::If(gains_by_threads)]),
    Conclusion::new(
        "With a thread for each row, a warp reads down a column: {} a load, {}. With a block for each row it reads along the row: {}, {}. \
         For column means, a thread for each column does so, too.",
        TIMES,
    )
    .holds(&[Holds::More(0, 2), Holds::If(|report| !gains_by_threads(report))]),
    Conclusion::new(
        "With a thread for each row, a warp reads down a column: {} a load. With a block for each row it reads along the row: {}.",
        &[Of(GLOBAL, &A_LOAD_IN_UNITS), Of(SHARED, &A_LOAD_IN_UNITS)],
    )
    .holds(&[
        Holds::More(0, 1),
        Holds::If(|report| GLOBAL.find(report).is_some_and(|row| row.predicted_time().is_none())),
    ]),
    Conclusion::new(
        "With a thread for each column, loads are coalesced: {} each. But there are few threads, and more would hide more of the latency.",
        &[Of(MEANS_GLOBAL, &A_LOAD_IN_UNITS)],
    )
    .holds(&[Holds::If(|report| {
        let cost = MEANS_GLOBAL.find(report).and_then(|row| Cost::of_loads(row.counters.as_ref()?));
        cost.is_some_and(|cost| cost.per_ideal < 1.5)
    })]),
    Conclusion::new(
        "Predicted: these are too few threads to hide the latency of memory; more threads for each column help.",
        &[],
    )
    .holds(&[Holds::If(|report| {
        let row = MEANS_GLOBAL.find(report).and_then(|row| row.predicted_time());
        row.is_some_and(|time| time.limit == Bound::Latency)
    })]),
];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("device", "sim:hopper"), ("rows", "64")],
    row: "sum-global-linear",
    beside: "sum-shared-linear",
    access: "global load",
    charted: Some(("sum-global-linear", "sum-shared-linear")),
    steps: Some(Steps {
        title: "who sums a row",
        rows: &[
            ("sum-global-linear", "a thread"),
            ("sum-shared-linear", "a block"),
            ("sum-best-linear", "the fastest on an H200"),
        ],
    }),
    goals: &[Goal {
        ask: "Sum the rows with 4 sectors a load.",
        row: Row::Named(""),
        measure: &A_LOAD_IN_UNITS,
        unit: " a load",
        bound: report::Bound::AtMost(Target::Number(4.0)),
        except: &[],
    }],
    ..Showcase::DEFAULTS
};
