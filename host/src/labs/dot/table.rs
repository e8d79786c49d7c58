//! The table of the lab: its methods and layouts, its flags, and what it concludes.

use std::path::PathBuf;

use crate::flag_values::power_of_two;
use clap::Args;
use serde_json::Value;

use crate::labs::inputs::{DefaultSize, MemoryNeeds, VectorFlags};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{AsFast, Of};
use crate::report::measures::{
    A_LOAD, A_LOAD_IN_UNITS, ALL_REQUESTS, LOAD_REQUESTS_FIRST, REQUESTS_IN_ALL, SHARED_REQUESTS, STORE_REQUESTS_FIRST,
};
use crate::report::{Conclusion, FirstScreen, Holds, LabReport, Row};

/// No multiple of 8, so that the second of two linear vectors starts in the middle of a sector.
pub(super) const SIZE: DefaultSize = DefaultSize { on_gpu: (1 << 27) + 1, on_simulator: (1 << 16) + 1 };

/// Both vectors twice and a product for each thread on the device; the vectors on the host.
pub(super) const NEEDS: MemoryNeeds = MemoryNeeds { what: "the dot product of vectors", on_device: 5, on_host: 2 };

/// How a variant adds up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Global,
    Shared,
    Best,
}

impl Variants for Method {
    const TITLE: &'static str = "Methods";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("global", "Products, and the tree of their sum, in global memory", Self::Global),
        variant("shared", "Products, and the tree of their sum, in shared memory", Self::Shared),
        variant("best", "The fastest on an H200: many pairs per thread, then shuffles, in one launch", Self::Best),
    ];
}

/// How the vectors are stored.
#[derive(Clone, Copy)]
pub(super) enum Layout {
    Linear,
    Aligned,
}

impl Variants for Layout {
    const TITLE: &'static str = "Layouts";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("linear", "The second vector directly after the first, in one allocation", Self::Linear),
        variant("aligned", "Each vector at the start of an allocation", Self::Aligned),
    ];
}

/// The flags of `host dot`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) methods: Chosen<Method>,
    #[command(flatten)]
    pub(super) layouts: Chosen<Layout>,
    #[command(flatten)]
    pub(super) a: VectorFlags,
    /// Take the second vector from this NumPy file instead of a random one
    #[arg(long, value_name = "B.npy", requires = "input")]
    pub(super) input_b: Option<PathBuf>,
    /// Threads of a block of --global and --shared: a power of two from 32 to 1024
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = power_of_two(32, 1024))]
    pub(super) block: u32,
}

const GLOBAL: Row = Row::Named("global-aligned");
const SHARED: Row = Row::Named("shared-aligned");
const LINEAR: Row = Row::Named("shared-linear");

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[
        LOAD_REQUESTS_FIRST,
        STORE_REQUESTS_FIRST,
        REQUESTS_IN_ALL.titled(&["global", "requests"]),
        SHARED_REQUESTS,
    ],
    words: &[
        ("tree_in", "partial sums in"),
        ("global", "a tree in global memory"),
        ("shared", "a tree in shared memory"),
        ("best", "registers"),
    ],
    removes: &[],
    // They count as aligned vectors do: only the sectors of a load differ.
    left_out: &["global-linear", "shared-linear"],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new("Shared memory is {} as global memory.", &[AsFast(SHARED, GLOBAL)]),
    Conclusion::new(
        "With partial sums in global memory the dot product makes {} global requests; with partial sums in shared memory, {}.",
        &[Of(GLOBAL, &ALL_REQUESTS), Of(SHARED, &ALL_REQUESTS)],
    )
    .holds(&[Holds::More(0, 1)]),
    Conclusion::new(
        "The second of two linear vectors begins inside a sector, where the first ends: a load takes {}; from aligned \
         vectors, {}.",
        &[Of(LINEAR, &A_LOAD_IN_UNITS), Of(SHARED, &A_LOAD), Of(LINEAR, &A_LOAD)],
    )
    .holds(&[Holds::Differ(1, 2)]),
    Conclusion::new(
        "Linear vectors of this length end on a sector boundary, so aligned ones are no better: try a length that is not a multiple of 8.",
        &[Of(LINEAR, &A_LOAD), Of(SHARED, &A_LOAD)],
    )
    .holds(&[Holds::Same(0, 1), Holds::If(ends_with_a_sector)]),
];

/// Whether the first of two linear vectors ends where a sector of 32 bytes does.
fn ends_with_a_sector(report: &LabReport) -> bool {
    report.parameters.get("size").and_then(Value::as_u64).is_some_and(|size| size.is_multiple_of(8))
}
