//! The table of the lab: what its variants read, its flags, and what it concludes.

use crate::flag_values::whole_number;
use clap::Args;
use picture::Counted;

use crate::labs::showcase::{Showcase, Steps};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{AsFast, Of, Times};
use crate::report::measures::{
    A_LOAD, A_LOAD_IN_UNITS, BEYOND_L1, LOAD_REQUESTS, READ_ONLY_HITS, SECTORS_A_LOAD, SECTORS_OVER_IDEAL,
    TRANSACTIONS_A_LOAD,
};
use crate::report::{
    Better, Bound, Cell, Conclusion, Elements, FirstScreen, Goal, Holds, Meaning, Measure, Row, Target,
};
use crate::units::percent;

/// The data of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subjects {
    Points,
    Particles,
    Sums,
    Matrix,
}

impl Variants for Subjects {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant(
            "points",
            "Points of three f32: read directly, through the read-only cache, staged in shared memory, from three arrays",
            Self::Points,
        ),
        variant("particles", "Particles of four f64: an array of structures, and four arrays", Self::Particles),
        variant("sums", "32 numbers for each thread: in a row, and in a column", Self::Sums),
        variant(
            "matrix",
            "A matrix whose rows are reached through a table of pointers, and one contiguous matrix with a pitch",
            Self::Matrix,
        ),
    ];
}

/// What the names of the data and of their layouts mean.
pub(super) const MEANINGS: &[Meaning] = &[
    ("points", "Each thread reads a point of three f32"),
    ("particles", "Each thread reads a particle of four f64"),
    ("sums", "Each thread adds up 32 numbers"),
    ("matrix", "Each thread reads an element, row by row"),
    ("direct", "An array of structures, read field by field"),
    ("read-only", "The same array through the read-only cache: the same sectors"),
    ("staged", "The same array, loaded into shared memory as consecutive words, and read there"),
    ("arrays", "A structure of arrays: one array for each field"),
    ("row each", "The numbers of a thread are a row of the matrix"),
    ("column each", "The numbers of a thread are a column of the matrix"),
    ("pointers", "Rows are reached through a table of pointers, which are loaded, too"),
    ("pitched", "Rows are a pitch apart, in one allocation"),
];

/// The flags of `host layout`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) variants: Chosen<Subjects>,
    /// Points, particles, sums; and about as many elements of the matrix
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, u64::from(u32::MAX)))]
    pub(super) size: Option<u64>,
}

const DIRECT: Row = Row::Named("points-direct");
const READ_ONLY: Row = Row::Named("points-read-only");
const STAGED: Row = Row::Named("points-staged");
const ARRAYS: Row = Row::Named("points-arrays");
const PARTICLES: Row = Row::Named("particles-direct");
const PARTICLE_ARRAYS: Row = Row::Named("particles-arrays");
const SUM_ROWS: Row = Row::Named("sums-rows");
const SUM_COLUMNS: Row = Row::Named("sums-columns");
const POINTERS: Row = Row::Named("matrix-pointers");
const PITCHED: Row = Row::Named("matrix-pitched");

/// Hits in the read-only cache, for a sentence.
const HITS: Measure = Measure::new(READ_ONLY_HITS.section, "hits", &["hits"], Better::Higher, |variant| {
    let hits = READ_ONLY_HITS.of(variant)?.value?;
    Some(Cell::new(hits, percent(hits)))
});

/// How much of what L2 sends is points.
const POINTS_OF_L2: Measure = Measure::new(BEYOND_L1.section, "points_of_l2", &["points"], Better::Higher, |variant| {
    let points = variant.fact("points_bytes")?.as_f64()?;
    let share = 100.0 * points / BEYOND_L1.of(variant)?.value?;
    Some(Cell::new(share, percent(share)))
});

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[SECTORS_A_LOAD, TRANSACTIONS_A_LOAD, SECTORS_OVER_IDEAL],
    words: &[
        ("points", "three f32"),
        ("particles", "four f64"),
        ("sums", "32 numbers a thread"),
        ("matrix", "one number a thread"),
        ("direct", "array of structures"),
        ("read-only", "the same, read-only cache"),
        ("staged", "the same, through shared memory"),
        ("arrays", "structure of arrays"),
        ("row each", "a row for each thread"),
        ("column each", "a column for each thread"),
        ("pointers", "rows by pointers"),
        ("pitched", "one allocation"),
    ],
    removes: &[],
    left_out: &["read-only", "matrix"],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "Three arrays are {} as an array of points; one column per thread is {} as one row per thread.",
        &[AsFast(ARRAYS, DIRECT), AsFast(SUM_COLUMNS, SUM_ROWS)],
    ),
    Conclusion::new(
        "Loading one field of an array of 12-byte structures touches {}, {} times the {} of a structure of arrays, or of staging in shared \
         memory.",
        &[
            Of(DIRECT, &A_LOAD_IN_UNITS),
            Times(DIRECT, ARRAYS, &A_LOAD),
            Of(ARRAYS, &A_LOAD),
            Of(STAGED, &A_LOAD),
        ],
    )
    .holds(&[Holds::Same(2, 3), Holds::More(0, 2)]),
    Conclusion::new(
        "Through the read-only cache, {} of the queries hit and L2 sends {}, of which {} is points; directly, {}.",
        &[Of(READ_ONLY, &HITS), Of(READ_ONLY, &BEYOND_L1), Of(READ_ONLY, &POINTS_OF_L2), Of(DIRECT, &BEYOND_L1)],
    ),
    Conclusion::new(
        "A load of a field of 8 bytes takes {} in an array of particles, {} in four arrays.",
        &[Of(PARTICLES, &A_LOAD_IN_UNITS), Of(PARTICLE_ARRAYS, &A_LOAD)],
    ),
    Conclusion::new(
        "With one row per thread a load takes {}; with one column per thread, {}.",
        &[Of(SUM_ROWS, &A_LOAD_IN_UNITS), Of(SUM_COLUMNS, &A_LOAD)],
    ),
    Conclusion::new(
        "Through pointers, a warp first loads the pointer to its row, one sector for all lanes: {} load requests instead of {} with a \
         pitch.",
        &[Of(POINTERS, &LOAD_REQUESTS), Of(PITCHED, &LOAD_REQUESTS)],
    )
    .holds(&[Holds::More(0, 1)]),
];

/// What the page begins with: points as an array of structures, beside three arrays.
pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("size", "1024")],
    row: "points-direct",
    beside: "points-arrays",
    access: "global load",
    elements: Some(Elements {
        rows: &["points-direct", "points-staged", "points-arrays"],
        arrays: &["points", "x (y and z alike)", "", ""],
        counted: Counted::Moves,
    }),
    steps: Some(Steps {
        title: "the points in memory",
        rows: &[
            ("points-direct", "structures"),
            ("points-read-only", "structures, read-only cache"),
            ("points-staged", "structures, through shared memory"),
            ("points-arrays", "arrays"),
        ],
    }),
    goals: &[Goal {
        ask: "Read the points so that a load touches only the sectors of its words.",
        row: Row::Named(""),
        measure: &SECTORS_OVER_IDEAL,
        unit: " times the sectors of its words",
        bound: Bound::AtMost(Target::Number(1.0)),
        except: &[],
    }],
    ..Showcase::DEFAULTS
};
