//! The table of the lab: its variants with their kernels, its flags, and what it concludes.

use clap::Args;
use cuda_std::launch::{self, SafeKernel};
use kernels::{gram as kernel, gram_registers as registers, phases};

use crate::labs::inputs::MatrixFlags;
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{Name, Of, Speedup, Whole};
use crate::report::measures::{PASSES_A_SHARED_LOAD, SHARED_LOAD_REQUESTS, SHARED_LOAD_WAVEFRONTS};
use crate::report::{Cell, Conclusion, FirstScreen, Holds, LabReport, Row};

/// A kernel of the course.
pub(super) type Plain = SafeKernel<(launch::Matrix<f32>, launch::DisjointMatrix<f32>)>;

/// What a variant launches.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// The kernel; for the best one, that of matrices that are smaller than its tiles.
    pub(super) kernel: &'static Plain,
    /// Rows and columns of a block's tile, if these are not those of its threads.
    pub(super) tile: Option<u32>,
    pub(super) best: bool,
}

const fn step(kernel: &'static Plain) -> Step {
    Step { kernel, tile: None, best: false }
}

impl Variants for Step {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("tiled16", "Tiles of 16 x 16, read by columns: bank conflicts", step(&kernel::gram_tiled16)),
        variant("padded16", "Tiles of 16 x 17: one column of padding", step(&kernel::gram_padded16)),
        variant("tiled32", "Tiles of 32 x 32: more bank conflicts", step(&kernel::gram_tiled32)),
        variant("padded32", "Tiles of 32 x 33: one column of padding", step(&kernel::gram_padded32)),
        variant("phased32", "As padded32, in phases: a safe kernel that cannot race", step(&phases::gram_phased32))
            .extra(),
        variant(
            "mirrored",
            "As padded32, but only half of the result is computed, and written twice: it is symmetric",
            step(&kernel::gram_mirrored),
        ),
        variant(
            "registers",
            "As mirrored, in tiles of 128 x 128, whose elements are in registers",
            Step { tile: Some(registers::TILE), ..step(&registers::gram_registers) },
        ),
        variant(
            "best",
            "The fastest on an H200: asynchronous copies; small matrices in half the tiles, large ones transposed \
             first",
            Step { best: true, ..step(&kernel::gram_mirrored) },
        ),
    ];
}

/// The flags of `host gram`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) variants: Chosen<Step>,
    // The matrix A.
    #[command(flatten)]
    pub(super) a: MatrixFlags,
    /// Start each row at the device's preferred alignment
    #[arg(long)]
    pub(super) pitched: bool,
}

const BEST: Row = Row::Named("best");
const TILED16: Row = Row::Named("tiled16");
const PADDED16: Row = Row::Named("padded16");
const TILED32: Row = Row::Named("tiled32");
const PADDED32: Row = Row::Named("padded32");

/// The wavefronts of a load down a column of the tile: half of the loads are such, and the others
/// are along a row, without conflicts, as all are in the padded tile.
fn down_a_column(report: &LabReport, tiled: Row, padded: Row) -> Option<Cell> {
    let of = |row: Row| SHARED_LOAD_WAVEFRONTS.of(row.find(report)?)?.value;
    Some(Cell::number(2.0 * of(tiled)? - of(padded)?))
}

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[SHARED_LOAD_REQUESTS, PASSES_A_SHARED_LOAD],
    words: &[
        ("tiled16", "16 x 16"),
        ("padded16", "16 x 17"),
        ("tiled32", "32 x 32"),
        ("padded32", "32 x 33"),
        ("mirrored", "32 x 33, one half"),
        ("registers", "128 x 128, one half"),
        ("best", "asynchronous copies"),
    ],
    removes: &[],
    left_out: &["mirrored", "registers", "best"],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "The padding makes tiles of 16 x 16 {} times as fast (the lab sheet measured 4.6) and tiles of 32 x 32 {} times.",
        &[Speedup(PADDED16, TILED16), Speedup(PADDED32, TILED32)],
    ),
    Conclusion::new(
        "Register tiles are {} times as fast as mirrored tiles of 32 x 32.",
        &[Speedup(Row::Named("registers"), Row::Named("mirrored"))],
    ),
    Conclusion::new(
        "The rate counts all products. As half of them follow by symmetry, {} computes only the others, and exceeds \
         the limit.",
        &[Name(BEST)],
    )
    .holds(&[Holds::If(|report| {
        let limit = BEST.find(report).and_then(|row| row.limit());
        limit.is_some_and(|(_, percent)| percent > 100.0)
    })]),
    Conclusion::new(
        "A load down a column takes {} wavefronts in the 32 x 32 tile and {} in the 16 x 16, along a row {}: {} and {} on average. With one \
         more column every load takes {}.",
        &[
            Whole(|report| down_a_column(report, TILED32, PADDED32)),
            Whole(|report| down_a_column(report, TILED16, PADDED16)),
            Of(PADDED32, &SHARED_LOAD_WAVEFRONTS),
            Of(TILED32, &SHARED_LOAD_WAVEFRONTS),
            Of(TILED16, &SHARED_LOAD_WAVEFRONTS),
            Of(PADDED32, &SHARED_LOAD_WAVEFRONTS),
            Of(PADDED16, &SHARED_LOAD_WAVEFRONTS),
        ],
    )
    .holds(&[Holds::More(3, 5), Holds::Same(5, 6)]),
    // G80 and GT200 have no blocks of 32 x 32 threads.
    Conclusion::new(
        "On average of the two tiles, a shared load takes {} wavefronts with 16 x 16 and {} with 16 x 17.",
        &[Of(TILED16, &SHARED_LOAD_WAVEFRONTS), Of(PADDED16, &SHARED_LOAD_WAVEFRONTS)],
    )
    .holds(&[Holds::If(|report| TILED32.find(report).is_none() || PADDED32.find(report).is_none())]),
];
