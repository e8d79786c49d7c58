//! The table of the lab: its variants with their kernels, its flags, and what it concludes.

use std::path::PathBuf;

use crate::flag_values::{block_shape, whole_number};
use clap::Args;
use cuda_std::launch::{self, SafeKernel};
use kernels::{matmul as kernel, phases, register_tiles as climb};
use picture::Scale;

use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{Of, Percent, Speedup};
use crate::report::measures::{GFLOPS, LOAD_REQUESTS, SHARED_WAVEFRONTS};
use crate::report::{Better, Cell, Conclusion, FirstScreen, Holds, Measure, Row, Rows, Section, Sweep};

/// A kernel of the course.
pub(super) type Plain = SafeKernel<(launch::Matrix<f32>, launch::Matrix<f32>, launch::DisjointMatrix<f32>)>;

/// What a variant launches.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// The kernel; for the best one, that of products that are smaller than its tiles.
    pub(super) kernel: &'static Plain,
    /// The side of the square of elements that a block computes, if it does not depend on the
    /// block.
    pub(super) tile: Option<u32>,
    /// The kernel's shared memory in bytes, if not every GPU has as much.
    pub(super) shared: u64,
    pub(super) best: bool,
}

const fn step(kernel: &'static Plain, tile: u32, shared: u64) -> Step {
    Step { kernel, tile: Some(tile), shared, best: false }
}

const REGISTERS: u32 = kernel::REGISTER_TILE;
const MOST: u64 = climb::MOST_SHARED;

impl Variants for Step {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant(
            "naive",
            "A thread for each element, from global memory",
            Step { tile: None, ..step(&kernel::matmul_naive, 0, 0) },
        ),
        variant("tiled16", "Tiles of 16 x 16 in shared memory", step(&kernel::matmul_tiled16, kernel::TILE16, 0)),
        variant(
            "phased16",
            "As tiled16, in phases: a safe kernel that cannot race",
            step(&phases::matmul_phased16, kernel::TILE16, 0),
        )
        .extra(),
        variant("tiled32", "Tiles of 32 x 32 in shared memory", step(&kernel::matmul_tiled32, kernel::TILE32, 0)),
        variant(
            "registers",
            "Tiles of 128 x 128: 8 x 8 elements in the registers of each thread",
            step(&kernel::matmul_registers, REGISTERS, 0),
        ),
        variant("wide", "As registers, with words of 16 bytes", step(&climb::matmul_wide, REGISTERS, 0)),
        variant(
            "async2",
            "As wide, with asynchronous copies: the next tiles are loaded while these are multiplied",
            step(&climb::matmul_async2, REGISTERS, MOST),
        )
        .timed(),
        variant(
            "async3",
            "As async2, with three tiles of each matrix in place of two",
            step(&climb::matmul_async3, REGISTERS, MOST),
        )
        .timed(),
        variant(
            "best",
            "The fastest on an H200: small matrices in half the tiles and partly narrower words, large ones with \
             asynchronous copies",
            Step { best: true, ..step(&climb::matmul_wide, REGISTERS, MOST) },
        ),
    ];
}

/// The flags of `host matmul`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) variants: Chosen<Step>,
    /// Rows of A and of the product, or several numbers of them, separated by commas; 1000 is the
    /// lab sheet's size
    #[arg(long, alias = "rows", value_name = "NUMBER,...", value_delimiter = ',', value_parser = whole_number(1, u32::MAX))]
    pub(super) m: Vec<u32>,
    /// Columns of B and of the product [default: as --m]
    #[arg(long, alias = "cols", value_name = "NUMBER", value_parser = whole_number(1, u32::MAX))]
    pub(super) n: Option<u32>,
    /// Columns of A and rows of B [default: as --m]
    #[arg(long, alias = "inner", value_name = "NUMBER", conflicts_with = "input", value_parser = whole_number(1, u32::MAX))]
    pub(super) k: Option<u32>,
    /// Take A from this NumPy file, a float32 matrix, instead of a random one
    #[arg(long, value_name = "A.npy", conflicts_with_all = ["m", "n"])]
    pub(super) input: Option<PathBuf>,
    /// Take B from this NumPy file; otherwise B is random, and as wide as A is high
    #[arg(long, value_name = "B.npy", requires = "input")]
    pub(super) input_b: Option<PathBuf>,
    /// Threads of a block of the naive kernel
    #[arg(long, value_name = "X,Y", default_value = "16,16", value_parser = block_shape)]
    pub(super) block: [u32; 2],
    /// Start each row at the device's preferred alignment
    #[arg(long)]
    pub(super) pitched: bool,
}

const ASYNC: Row = Row::Either(&["async2", "async3"]);
const NAIVE: Row = Row::Named("naive");
const TILED32: Row = Row::Named("tiled32");

/// How often threads load each element of the factors, on average.
pub(super) const LOADS_OF_AN_ELEMENT: Measure =
    Measure::new(Section::Counter, "loads_of_an_element", &["loads of", "each element"], Better::Lower, |variant| {
        let loads: u64 = variant.arrays.iter().flat_map(|array| &array.loads).map(|&loads| u64::from(loads)).sum();
        let elements = variant.fact("input_bytes")?.as_f64()? / size_of::<f32>() as f64;
        (loads > 0).then(|| Cell::number(loads as f64 / elements))
    });

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[LOADS_OF_AN_ELEMENT, SHARED_WAVEFRONTS],
    words: &[
        ("naive", "no tiles"),
        ("tiled16", "16 x 16"),
        ("tiled32", "32 x 32"),
        ("registers", "128 x 128, 8 x 8 a thread"),
        ("wide", "the same, 16-byte words"),
        ("best", "as wide, tiles by size"),
    ],
    removes: &[],
    left_out: &["best"],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "Tiles of 16 x 16 are {} times as fast as global memory (the lab sheet measured 18.6), register tiles {} times, the best kernel \
         {} times.",
        &[
            Speedup(Row::Named("tiled16"), NAIVE),
            Speedup(Row::Named("registers"), NAIVE),
            Speedup(Row::Named("best"), NAIVE),
        ],
    ),
    Conclusion::new(
        "A tile of 32 x 32 loads each element {} times instead of {}; one of 128 x 128, with 8 x 8 results in each thread's registers, \
         {} times, and takes {} of the shared wavefronts.",
        &[
            Of(TILED32, &LOADS_OF_AN_ELEMENT),
            Of(NAIVE, &LOADS_OF_AN_ELEMENT),
            Of(Row::Named("registers"), &LOADS_OF_AN_ELEMENT),
            Percent(Row::Named("registers"), TILED32, &SHARED_WAVEFRONTS),
        ],
    )
    .holds(&[Holds::More(1, 0), Holds::More(0, 2)]),
    Conclusion::new(
        "A tile of 32 x 32 loads each element {} times instead of {}: a block's threads share what each of them loads.",
        &[Of(TILED32, &LOADS_OF_AN_ELEMENT), Of(NAIVE, &LOADS_OF_AN_ELEMENT)],
    )
    .holds(&[Holds::More(1, 0), Holds::If(|report| Row::Named("registers").find(report).is_none())]),
    Conclusion::new("Asynchronous copies fetch the next tiles while the products of the current ones run. No count here shows that.", &[])
        .holds(&[Holds::If(|report| !report.device.is_gpu() && ASYNC.find(report).is_some())]),
];

/// The steps by size.
pub(super) const SWEEPS: &[Sweep] = &[Sweep {
    x: "m",
    title: "m, the rows of the product",
    scale: Scale::Log,
    series: &["step"],
    rows: Rows::All,
    timed: (&GFLOPS, Scale::Log),
    counted: (&[&LOAD_REQUESTS], Scale::Log),
}];
