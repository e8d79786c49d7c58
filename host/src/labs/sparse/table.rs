//! The table of the lab: its formats and matrices, its flags, and what it concludes.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use crate::flag_values::whole_number;
use crate::labs::inputs::DefaultSize;
use crate::labs::showcase::{Showcase, Slider};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{AsFast, Of, Times, Whole};
use crate::report::measures::{
    A_LOAD, A_LOAD_IN_UNITS, INSTRUCTIONS_FIRST, PADDED, SECTORS_A_LOAD, TOUCHED_OF_NEEDED, TRANSACTIONS_A_LOAD,
    WORDS_A_LOAD,
};
use crate::report::{Bound, Cell, Conclusion, FirstScreen, Goal, Holds, LabReport, Row, Target};

pub(super) const ROWS: DefaultSize = DefaultSize { on_gpu: 1 << 20, on_simulator: 1 << 11 };

/// In what order the entries are stored, and which thread reads which.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Coo,
    Segments,
    Threads,
    Warps,
    Ell,
    Sliced,
}

impl Variants for Format {
    const TITLE: &'static str = "Formats";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("coo", "Coordinates: a thread an entry adds its product in global memory", Self::Coo),
        variant("segments", "The same; a warp first adds up what it has of a row", Self::Segments),
        variant("csr-threads", "Rows one after the other, a thread for each", Self::Threads),
        variant("csr-warps", "The same, a warp for each", Self::Warps),
        variant("ell", "All rows padded to the longest, stored column by column", Self::Ell),
        variant("sliced", "The same for slices of 2^N rows, each padded to its own longest", Self::Sliced),
    ];
}

/// How long rows are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Uniform,
    PowerLaw,
}

impl Variants for Kind {
    const TITLE: &'static str = "Matrices";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("uniform", "All rows are equally long", Self::Uniform),
        variant("power-law", "Most rows are short, a few up to 16 times as long as the mean", Self::PowerLaw),
    ];
}

/// The flags of `host sparse`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) formats: Chosen<Format>,
    #[command(flatten)]
    pub(super) kinds: Chosen<Kind>,
    /// Rows of the matrix, which is square
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 1_u64 << 30))]
    pub(super) rows: Option<u64>,
    /// Entries of a row, on average
    #[arg(long, value_name = "NUMBER", default_value_t = 16, value_parser = whole_number(1, 65536_u64))]
    pub(super) each: u64,
    /// The columns of a row are around the diagonal, within N times its length
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = whole_number(1, 1_u64 << 30))]
    pub(super) spread: u64,
    /// The N of --sliced: 5 for a slice a warp
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole_number(0, 16u32))]
    pub(super) log_slice: u32,
    /// Take the matrix in this Matrix Market file instead of random ones
    #[arg(long, value_name = "A.mtx", conflicts_with_all = ["rows", "each", "spread"])]
    pub(super) matrix: Option<PathBuf>,
    /// Take the float32 vector x in this NumPy file instead of a random one
    #[arg(long, value_name = "X.npy")]
    pub(super) input: Option<PathBuf>,
}

const THREADS_EVEN: Row = Row::Named("csr-threads-uniform");
const WARPS_EVEN: Row = Row::Named("csr-warps-uniform");
const ELL_EVEN: Row = Row::Named("ell-uniform");
const THREADS_LAW: Row = Row::Named("csr-threads-power-law");
const SEGMENTS_LAW: Row = Row::Named("segments-power-law");
const ELL_LAW: Row = Row::Named("ell-power-law");
const SLICED_LAW: Row = Row::Named("sliced-power-law");

/// Of the only matrix.
const THREADS: Row = Row::LastNamed("csr-threads");
const WARPS: Row = Row::LastNamed("csr-warps");
const ELL: Row = Row::LastNamed("ell");
const SLICED: Row = Row::LastNamed("sliced");

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[SECTORS_A_LOAD, TRANSACTIONS_A_LOAD, WORDS_A_LOAD, TOUCHED_OF_NEEDED, INSTRUCTIONS_FIRST, PADDED],
    words: &[
        ("coo", "a thread an entry"),
        ("segments", "sums of a warp first"),
        ("csr-threads", "a thread a row"),
        ("csr-warps", "a warp a row"),
        ("ell", "columns of all rows"),
        ("sliced", "columns of a few rows"),
        ("cusparse-csr", "the library's"),
    ],
    removes: &[],
    left_out: &[],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "With {} entries in each row, CSR by threads is {} as by warps, and ELL {} as CSR by threads. With power-law rows CSR by \
         threads is {} as ELL, and COO, added up in segments, {} as CSR by threads.",
        &[
            Whole(each),
            AsFast(THREADS_EVEN, WARPS_EVEN),
            AsFast(ELL_EVEN, THREADS_EVEN),
            AsFast(THREADS_LAW, ELL_LAW),
            AsFast(SEGMENTS_LAW, THREADS_LAW),
        ],
    ),
    Conclusion::new(
        "By threads, a load of CSR asks for {} words in {}, as lanes read 32 rows. By warps it asks for {} in {}, but takes {} \
         times the instructions: on an H200 rows of 16 entries are faster by threads, rows of 200 by warps. ELL reads \
         neighbours: {} times the bytes needed. It pads power-law rows to the longest: {} padding, {} times the bytes needed; \
         in slices {}.",
        &[
            Of(THREADS_EVEN, &WORDS_A_LOAD),
            Of(THREADS_EVEN, &A_LOAD_IN_UNITS),
            Of(WARPS_EVEN, &WORDS_A_LOAD),
            Of(WARPS_EVEN, &A_LOAD),
            Times(WARPS_EVEN, THREADS_EVEN, &INSTRUCTIONS_FIRST),
            Of(ELL_EVEN, &TOUCHED_OF_NEEDED),
            Of(ELL_LAW, &PADDED),
            Of(ELL_LAW, &TOUCHED_OF_NEEDED),
            Of(SLICED_LAW, &TOUCHED_OF_NEEDED),
        ],
    )
    .holds(&[Holds::More(1, 3), Holds::More(7, 8)]),
    Conclusion::new(
        "CSR by threads touches {} times the bytes needed, a warp a row {}, in {} times the instructions; ELL, with {} padding, {}.",
        &[
            Of(THREADS, &TOUCHED_OF_NEEDED),
            Of(WARPS, &TOUCHED_OF_NEEDED),
            Times(WARPS, THREADS, &INSTRUCTIONS_FIRST),
            Of(ELL, &PADDED),
            Of(ELL, &TOUCHED_OF_NEEDED),
        ],
    )
    .holds(&[Holds::If(|report| ELL_EVEN.find(report).is_none() || ELL_LAW.find(report).is_none())]),
    Conclusion::new(
        "Few bytes are touched where a warp reads neighbours and little padding: with {} rows in a slice {} times the bytes needed, \
         with CSR by threads {}.",
        &[Whole(slice), Of(SLICED, &TOUCHED_OF_NEEDED), Of(THREADS, &TOUCHED_OF_NEEDED)],
    )
    .holds(&[Holds::More(2, 1), Holds::If(|report| ELL.find(report).is_none())]),
];

/// Entries of a row.
fn each(report: &LabReport) -> Option<Cell> {
    report.parameters.get("each").and_then(Value::as_u64).map(Cell::count)
}

/// Rows of a slice.
fn slice(report: &LabReport) -> Option<Cell> {
    let log = report.parameters.get("log_slice").and_then(Value::as_u64)?;
    Some(Cell::count(1 << log))
}

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("device", "sim:hopper"), ("rows", "256"), ("power-law", ""), ("csr-threads", ""), ("sliced", "")],
    row: "sliced-power-law",
    beside: "csr-threads-power-law",
    access: "global load",
    slider: Some(Slider { flag: "log-slice", title: "rows of a slice: 2^N, N", range: (0, 8, 8), other: 0, with: "" }),
    goals: &[Goal {
        ask: "Touch as few bytes as possible: how many rows are to share a slice?",
        row: SLICED_LAW,
        measure: &TOUCHED_OF_NEEDED,
        unit: " times the bytes needed",
        bound: Bound::AtMost(Target::Number(6.0)),
        except: &[],
    }],
    tabled: true,
    ..Showcase::DEFAULTS
};
