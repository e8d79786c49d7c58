//! The table of the lab: its variants, its flags, and what it concludes.

use crate::flag_values::whole_number;
use clap::Args;

use crate::labs::inputs::{DefaultSize, MemoryNeeds, VectorFlags};
use crate::labs::showcase::{Showcase, Steps};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::Of;
use crate::report::measures::{
    LOAD_REQUESTS, LOAD_REQUESTS_FIRST, LOADED_IN_ALL, LOADED_SECTORS, PERCENT_OF_COPY, PREDICTED_TIME, SECTORS_A_LOAD,
    TRANSACTIONS_A_LOAD, TRANSACTIONS_IN_ALL,
};
use crate::report::{Bound, Conclusion, FirstScreen, Goal, Holds, LabReport, Row, Target};

pub(super) const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 28, on_simulator: 1 << 22 };

/// The input and the copy on the device; the input and the copy on the host.
pub(super) const NEEDS: MemoryNeeds = MemoryNeeds { what: "the copy of a vector", on_device: 2, on_host: 2 };

/// The kernel of a variant, by the words that it copies.
#[derive(Clone, Copy)]
pub(super) enum Copies {
    Words4,
    Words8,
    Words16,
    Best,
}

impl Variants for Copies {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("copy4", "Words of 4 bytes: f32", Self::Words4),
        variant("copy8", "Words of 8 bytes: f32x2", Self::Words8),
        variant("copy16", "Words of 16 bytes: f32x4", Self::Words16),
        variant(
            "best",
            "The fastest on an H200: words of 16 bytes, bypassing L1, as many per thread as suit the GPU",
            Self::Best,
        ),
    ];
}

/// The flags of `host vector`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) variants: Chosen<Copies>,
    #[command(flatten)]
    pub(super) vector: VectorFlags,
    /// Threads of a block; --best has 256
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = whole_number(1, 1024u32))]
    pub(super) block: u32,
}

const NARROW: Row = Row::Named("copy4");
const WIDE: Row = Row::Named("copy16");

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[LOAD_REQUESTS_FIRST, SECTORS_A_LOAD, TRANSACTIONS_A_LOAD, LOADED_IN_ALL, TRANSACTIONS_IN_ALL],
    words: &[
        ("copy4", "words of 4 bytes"),
        ("copy8", "words of 8 bytes"),
        ("copy16", "words of 16 bytes"),
        ("best", "16 bytes, past L1"),
    ],
    removes: &[],
    left_out: &["best"],
};

/// Whether words of 16 bytes are predicted to be faster than words of 4.
fn is_faster(report: &LabReport) -> bool {
    let time = |row: Row| PREDICTED_TIME.of(row.find(report)?)?.value;
    time(WIDE).zip(time(NARROW)).is_some_and(|(wide, narrow)| wide < narrow)
}

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "Words of 4 bytes reach {} % of the device's own copy, of 16 bytes {} %, and the best kernel {} %.",
        &[Of(NARROW, &PERCENT_OF_COPY), Of(WIDE, &PERCENT_OF_COPY), Of(Row::Named("best"), &PERCENT_OF_COPY)],
    ),
    Conclusion::new(
        "Words of 16 bytes need a quarter of the requests, {} instead of {}, for the same {} sectors: {} instead of {}.",
        &[
            Of(WIDE, &LOAD_REQUESTS),
            Of(NARROW, &LOAD_REQUESTS),
            Of(WIDE, &LOADED_SECTORS),
            Of(WIDE, &PREDICTED_TIME),
            Of(NARROW, &PREDICTED_TIME),
            Of(NARROW, &LOADED_SECTORS),
        ],
    )
    .holds(&[Holds::More(1, 0), Holds::Same(2, 5), Holds::More(4, 3)]),
    Conclusion::new(
        "Words of 16 bytes need a quarter of the requests, {} instead of {}, for the same {} sectors.",
        &[
            Of(WIDE, &LOAD_REQUESTS),
            Of(NARROW, &LOAD_REQUESTS),
            Of(WIDE, &LOADED_SECTORS),
            Of(NARROW, &LOADED_SECTORS),
        ],
    )
    .holds(&[
        Holds::More(1, 0),
        Holds::Same(2, 3),
        Holds::If(|report| !is_faster(report)),
    ]),
];

/// What the page begins with: words of 4 bytes beside words of 16.
pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("device", "sim:hopper"), ("size", "16384")],
    row: "copy4",
    beside: "copy16",
    access: "global load",
    charted: Some(("copy4", "copy16")),
    steps: Some(Steps { title: "bytes of a word", rows: &[("copy4", "4"), ("copy8", "8"), ("copy16", "16")] }),
    goals: &[Goal {
        ask: "Copy with a quarter of the load requests.",
        row: Row::Named(""),
        measure: &LOAD_REQUESTS,
        unit: " load requests",
        bound: Bound::AtMost(Target::Part(0.25, Row::Named("copy4"))),
        except: &[],
    }],
    ..Showcase::DEFAULTS
};
