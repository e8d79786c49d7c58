//! The table of the lab: its variants, its flags, and what it concludes.

use crate::flag_values::{self, block_shape, whole_number};
use clap::Args;
use cuda_std::launch::{DisjointMatrix, Matrix, SafeKernel};
use kernels::transpose_diagonal::transpose_diagonal;
use kernels::transpose_wide::MOST_WIDE;
use kernels::{phases, transpose as kernel};

use crate::labs::inputs::MatrixFlags;
use crate::labs::showcase::{Showcase, Slider};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{Of, Percent, Speedup, Times};
use crate::report::measures::{
    A_LOAD_IN_UNITS, A_STORE, A_STORE_IN_UNITS, PASSES_A_SHARED_LOAD, PREDICTED_GBPS, PREDICTED_TIME, SECTORS_A_LOAD,
    SECTORS_A_STORE, SHARED_LOAD_CONFLICTS, SHARED_LOAD_WAVEFRONTS, TIME, TRANSACTIONS_A_LOAD, TRANSACTIONS_A_STORE,
};
use crate::report::{Bound, Cell, Conclusion, FirstScreen, Goal, Holds, Measure, Row, Target, of_fact};

/// A kernel of the course.
type Plain = SafeKernel<(Matrix<f32>, DisjointMatrix<f32>)>;

/// One with the floats in a row of its tile.
type Wide = SafeKernel<(Matrix<f32>, DisjointMatrix<f32>, u32)>;

/// What a variant launches.
#[derive(Clone, Copy)]
pub enum Step {
    /// A block for each tile.
    Tiles(&'static Plain),
    /// A block for each tile, whose rows have this many floats.
    Wide(&'static Wide, u32),
    /// A thread for each element, in blocks of any shape.
    Elements(&'static Plain),
    /// The best kernel for the matrix.
    Best,
    /// No transpose: a copy into another matrix.
    Copies(&'static Plain),
}

use Step::{Best, Copies, Elements, Tiles};

impl Variants for Step {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant(
            "strided-writes",
            "Both naive kernels: one writes down the columns, one reads down them",
            Tiles(&kernel::transpose_strided_writes),
        )
        .flag("naive")
        .means("Each warp reads along a row and writes down a column"),
        variant("strided-reads", "", Tiles(&kernel::transpose_strided_reads))
            .flag("naive")
            .means("Each warp reads down a column and writes along a row"),
        variant(
            "block16",
            "As strided-writes in blocks of 16 x 16: a warp writes down half as long a column",
            Elements(&kernel::transpose_block16),
        ),
        variant(
            "tiled",
            "Tiles of 32 x 32 in shared memory, whose columns are read with bank conflicts",
            Tiles(&kernel::transpose_tiled),
        ),
        variant("padded", "Tiles of 32 x 33: the padding removes the bank conflicts", Tiles(&kernel::transpose_padded)),
        variant(
            "batched",
            "The padded tile, with four loads in flight before the first value is used",
            Tiles(&kernel::transpose_batched),
        ),
        variant(
            "diagonal",
            "The padded tile, in diagonal order: helps only on GPUs before 2010, as --device sim:tesla --predict shows",
            Tiles(&transpose_diagonal),
        )
        .extra(),
        variant(
            "phased",
            "The padded tile in phases: a safe kernel that cannot race",
            Tiles(&phases::transpose_phased),
        )
        .extra(),
        variant(
            "best",
            "The fastest on an H200: words of 16 bytes; tiles of 64 x 65, or of 32 x 33 for small matrices",
            Best,
        ),
        variant("copy", "A plain copy, without transposing, one float per thread", Copies(&kernel::transpose_copy)),
    ];
}

/// The flags of `host transpose`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The variants.
    #[command(flatten)]
    pub variants: Chosen<Step>,
    /// The matrix.
    #[command(flatten)]
    pub matrix: MatrixFlags,
    /// Tiles with rows of so many floats, from 32 to 64, separated by commas: 32 is --tiled, 33
    /// --padded
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = whole_number(kernel::TILE, MOST_WIDE))]
    pub tile_width: Vec<u32>,
    /// Threads of a block of --block16; the other kernels' blocks are fixed [default: 16,16]
    #[arg(long, value_name = "X,Y", value_parser = block_shape)]
    pub block: Option<[u32; 2]>,
    /// Start each row at the device's preferred alignment
    #[arg(long)]
    pub pitched: bool,
}

impl Default for Options {
    fn default() -> Self {
        flag_values::defaults()
    }
}

const COLUMN: Row = Row::Named("strided-writes");
const ROW: Row = Row::Named("strided-reads");
const COPY: Row = Row::Named("copy");
const TILED: Row = Row::Named("tiled");
const PADDED: Row = Row::Named("padded");
const DIAGONAL: Row = Row::Named("diagonal");
const WIDE: Row = Row::Least(&[], &TILE_WIDTH);
const THROUGH_SHARED: Row = Row::Either(&["padded", "tiled"]);

/// Floats in a row of the tile.
const TILE_WIDTH: Measure = of_fact("tile_width", |variant| variant.fact("tile_width")?.as_u64().map(Cell::count));

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[SECTORS_A_LOAD, TRANSACTIONS_A_LOAD, SECTORS_A_STORE, TRANSACTIONS_A_STORE, PASSES_A_SHARED_LOAD],
    words: &[
        ("block16", "blocks of 16 x 16"),
        ("tiled", "32 x 32"),
        ("padded", "32 x 33"),
        ("batched", "4 loads at once"),
        ("diagonal", "padded, another order"),
        ("phased", "padded, in phases"),
        ("best", "16-byte words"),
        ("copy", "no transpose"),
    ],
    removes: &[],
    left_out: &["strided-reads", "block16", "batched", "best"],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "padded is {} times as fast as strided-writes and {} times as fast as tiled; a plain copy takes {} of its time.",
        &[Speedup(PADDED, COLUMN), Speedup(PADDED, TILED), Percent(COPY, PADDED, &TIME)],
    ),
    Conclusion::new(
        "One side of a plain transpose is strided: {} a store, not {}. A tile in shared memory makes both sides {}, but reading its \
         columns takes {} wavefronts; a 33rd column makes that {}.",
        &[
            Of(COLUMN, &A_STORE_IN_UNITS),
            Of(PADDED, &A_STORE),
            Of(TILED, &A_STORE),
            Of(TILED, &SHARED_LOAD_WAVEFRONTS),
            Of(PADDED, &SHARED_LOAD_WAVEFRONTS),
        ],
    )
    .holds(&[Holds::More(0, 1), Holds::Same(1, 2), Holds::More(3, 4)]),
    Conclusion::new(
        "Through the padded tile a load takes {} and a store {}; reading a column of the tile takes {} wavefront.",
        &[Of(PADDED, &A_LOAD_IN_UNITS), Of(PADDED, &A_STORE), Of(PADDED, &SHARED_LOAD_WAVEFRONTS)],
    )
    .holds(&[Holds::If(|report| report.variants.len() == 1)]),
    Conclusion::new(
        "Predicted: padded takes {}, tiled {} and strided-writes {}; a plain copy {}.",
        &[
            Of(PADDED, &PREDICTED_TIME),
            Of(TILED, &PREDICTED_TIME),
            Of(COLUMN, &PREDICTED_TIME),
            Of(COPY, &PREDICTED_TIME),
        ],
    ),
    Conclusion::new(
        "A warp's store down a column takes {} (strided-writes); through shared memory, {}.",
        &[Of(COLUMN, &A_STORE_IN_UNITS), Of(THROUGH_SHARED, &A_STORE)],
    )
    .holds(&[Holds::More(0, 1)]),
    Conclusion::new(
        "Reading a column of the tile takes {} wavefronts, with padding {}.",
        &[Of(TILED, &SHARED_LOAD_WAVEFRONTS), Of(PADDED, &SHARED_LOAD_WAVEFRONTS)],
    )
    .holds(&[Holds::More(0, 1)]),
    Conclusion::new(
        "Predicted: without padding, tiled takes {} times as long as strided-reads, with padding {} times; copy, one float per thread, {} \
         times.",
        &[Times(TILED, ROW, &PREDICTED_TIME), Times(PADDED, ROW, &PREDICTED_TIME), Times(COPY, ROW, &PREDICTED_TIME)],
    ),
    Conclusion::new(
        "In diagonal order the tiles use all partitions of DRAM: {} times the predicted GB/s of padded.",
        &[Times(DIAGONAL, PADDED, &PREDICTED_GBPS)],
    )
    .holds(&[Holds::If(|report| {
        let gbps = |row: Row| PREDICTED_GBPS.of(row.find(report)?)?.value;
        gbps(DIAGONAL) > gbps(PADDED).map(|padded| 1.2 * padded)
    })]),
    Conclusion::new(
        "One side of a plain transpose is strided: {} a store, not {}. Through a tile with {} floats in a row both sides take {}, and \
         reading a column of it takes {} wavefronts.",
        &[
            Of(COLUMN, &A_STORE_IN_UNITS),
            Of(ROW, &A_STORE),
            Of(WIDE, &TILE_WIDTH),
            Of(WIDE, &A_STORE),
            Of(WIDE, &SHARED_LOAD_WAVEFRONTS),
        ],
    )
    .holds(&[Holds::More(0, 1), Holds::Same(1, 3)]),
    Conclusion::new(
        "With {} floats in a row of the tile, reading a column takes {} wavefronts.",
        &[Of(WIDE, &TILE_WIDTH), Of(WIDE, &SHARED_LOAD_WAVEFRONTS)],
    )
    .holds(&[Holds::If(|report| COLUMN.find(report).is_none())]),
];

/// What the lab's page in a browser begins with.
pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("rows", "128"), ("naive", "")],
    row: "width-{}",
    access: "shared load",
    slider: Some(Slider {
        flag: "tile-width",
        title: "floats in a row of the tile",
        range: (32, 64, 32),
        other: 33,
        with: "",
    }),
    goals: &[Goal {
        ask: "Choose the row of the tile such that reading a column has no bank conflicts: wavefronts beyond the first.",
        row: WIDE,
        measure: &SHARED_LOAD_CONFLICTS,
        unit: " conflicts a load",
        bound: Bound::AtMost(Target::Number(0.0)),
        except: &[],
    }],
    ..Showcase::DEFAULTS
};
