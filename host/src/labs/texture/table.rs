//! The table of the lab: what its variants read, its flags, and what it concludes.

use clap::Args;

use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{AsFast, Of, Whole};
use crate::report::measures::{A_LOAD, READ_SECTORS};
use crate::report::{Better, Cell, Conclusion, Cost, FirstScreen, Holds, LabReport, Meaning, Measure, Row, Section};
use crate::units::three_digits;

/// The largest side: the Morton curve has 16 bits for each coordinate, and arrays are not larger.
pub(super) const MOST_SIDE: u32 = 32768;

/// What is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Linear,
    Sampling,
    Walks,
    Made,
}

impl Variants for Part {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("linear", "A texture in linear memory against plain loads", Self::Linear).extra(),
        variant(
            "sampling",
            "Beyond the edges: clamp, wrap, mirror, border; between texels: nearest, linear; 16-bit floats; bytes as fractions",
            Self::Sampling,
        )
        .extra(),
        variant(
            "walks",
            "Walks along rows, columns, diagonals and in windows: texture, row order, Morton order",
            Self::Walks,
        ),
        variant(
            "made",
            "An image that a kernel makes and the next reads: through a surface; copied into the array; left in linear memory",
            Self::Made,
        )
        .extra(),
    ];
}

/// What the names of the walks and of the images mean.
pub(super) const MEANINGS: &[Meaning] = &[
    ("rows", "Each warp reads 32 texels of a row"),
    ("columns", "32 texels of a column"),
    ("diagonals", "32 texels of a diagonal"),
    ("windows", "A window of 4 x 8 texels, which begins inside a sector"),
    ("row-order", "The image in global memory, row after row"),
    ("morton-order", "The same along a Morton curve, so that near texels are near in memory"),
    ("texture", "The image in an array, whose sectors are 4 x 2 texels as Morton order's are, through a texture"),
];

/// The flags of `host texture`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) variants: Chosen<Part>,
    /// All of these variants
    #[arg(long)]
    pub(super) all: bool,
    /// The image's side in texels: a power of two from 32 to 32768
    #[arg(long, value_name = "NUMBER", value_parser = crate::flag_values::power_of_two(32, MOST_SIDE))]
    pub(super) size: Option<u32>,
    /// Take the image from this NumPy file: a float32 matrix, square, with a power of two as its
    /// side
    #[arg(long, value_name = "A.npy", conflicts_with = "size")]
    pub(super) input: Option<std::path::PathBuf>,
}

/// The sum of what a load takes over the four walks, in an order of the image, divided by four.
fn mean_over_walks(report: &LabReport, order: &str) -> Option<f64> {
    let of = |walk| Cost::of_loads(report.variant(&format!("{walk}-{order}"))?.counters.as_ref()?);
    let each = ["rows", "columns", "diagonals", "windows"].map(|walk| Some(of(walk)?.per_request));
    Some(each.into_iter().sum::<Option<f64>>()? / 4.0)
}

/// The sectors of global memory and of surfaces that a variant's launches read and write, but for
/// textures.
fn sectors(report: &LabReport, variant: &str) -> Option<Cell> {
    let counters = report.variant(variant)?.counters.as_ref()?;
    let (global, surface) = (&counters.global, &counters.surface);
    Some(Cell::count(global.load.sectors + global.store.sectors + surface.store.sectors))
}

const SECTORS: &Measure = &READ_SECTORS[0];

const COLUMNS: Row = Row::Named("columns-row-order");

/// The sectors that a warp reads for 32 texels.
pub(super) const SECTORS_A_WARP: Measure = Measure::new(
    Section::Counter,
    "sectors_of_32_texels",
    &["sectors that 32 texels", "of 4 bytes touch"],
    Better::Lower,
    |variant| {
        // Each texel is read once, and written once.
        let loads = variant.useful_bytes as f64 / f64::from(2 * 4 * 32);
        Some(Cell::number(SECTORS.of(variant)?.value? / loads))
    },
);

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen =
    FirstScreen { axes: &[], columns: &[SECTORS_A_WARP], words: &[], removes: &[], left_out: &[] };

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "Down the columns the texture is {} as row order; along the rows it is {}.",
        &[
            AsFast(Row::Named("columns-texture"), COLUMNS),
            AsFast(Row::Named("rows-texture"), Row::Named("rows-row-order")),
        ],
    ),
    Conclusion::new(
        "Down a column, 32 texels (elements of the image) touch {} sectors in a texture and {} in row order; along a row, {} in a texture \
         and {} in row order. The texture is modelled in Morton order, which touches as many.",
        &[
            Of(Row::Named("columns-texture"), &SECTORS_A_WARP),
            Of(COLUMNS, &SECTORS_A_WARP),
            Of(Row::Named("rows-texture"), &SECTORS_A_WARP),
            Of(Row::Named("rows-row-order"), &SECTORS_A_WARP),
            Of(Row::Named("columns-morton-order"), &SECTORS_A_WARP),
        ],
    )
    .holds(&[Holds::More(1, 0), Holds::More(2, 3), Holds::Same(0, 4)]),
    Conclusion::new(
        "Over the four walks, a load takes {} in row order and {} in Morton order; down the columns alone, {} and {}.",
        &[
            Whole(|report| {
                let unit = Cost::of_loads(COLUMNS.find(report)?.counters.as_ref()?)?.unit;
                let mean = mean_over_walks(report, "row-order")?;
                Some(Cell::new(mean, format!("{} {unit}", three_digits(mean))))
            }),
            Whole(|report| mean_over_walks(report, "morton-order").map(Cell::number)),
            Of(COLUMNS, &A_LOAD),
            Of(Row::Named("columns-morton-order"), &A_LOAD),
        ],
    ),
    Conclusion::new(
        "Written through a surface, image and result take {} sectors of memory; with a copy into the array, {}.",
        &[Whole(|report| sectors(report, "made-surface")), Whole(|report| sectors(report, "made-copied"))],
    ),
    Conclusion::new(
        "Through a surface it is {} as with a copy.",
        &[AsFast(Row::Named("made-surface"), Row::Named("made-copied"))],
    ),
];
