//! The table of the lab: its methods, its flags, and what it concludes.

use clap::Args;

use crate::flag_values::whole_number;
use crate::labs::inputs::{DefaultSize, MemoryNeeds, VectorFlags};
use crate::labs::showcase::{Showcase, Slider};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{AsFast, Of};
use crate::report::measures::{BANK_CONFLICTS_FIRST, BARRIERS, INSTRUCTIONS_FIRST, MOVED_OF_NEEDED};
use crate::report::{Bound, Conclusion, FirstScreen, Goal, Holds, Row, Target};

pub(super) const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 26, on_simulator: 1 << 16 };

/// Values, sums and what is kept on the device, with room for totals; on the host what is read, too.
pub(super) const NEEDS: MemoryNeeds = MemoryNeeds { what: "the scan of a vector", on_device: 4, on_host: 4 };

/// How prefix sums are made, or used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    HillisSteele,
    Blelloch,
    Padded,
    Shuffle,
    TwoReads,
    Single,
    Window,
    CompactTwoReads,
    CompactSingle,
}

/// What a row makes of the values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Makes {
    Sums,
    Kept,
}

impl Makes {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sums => "prefix sums",
            Self::Kept => "compaction",
        }
    }
}

impl Method {
    pub(super) fn makes(self) -> Makes {
        match self {
            Self::CompactTwoReads | Self::CompactSingle => Makes::Kept,
            _ => Makes::Sums,
        }
    }
}

impl Variants for Method {
    const TITLE: &'static str = "Methods";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant(
            "hillis-steele",
            "In eight steps each value of a block adds the one 1, 2, 4, ... places before",
            Self::HillisSteele,
        ),
        variant("blelloch", "A tree in shared memory, upwards and downwards", Self::Blelloch),
        variant("padded", "The same tree, with a word of padding after every 2^N words", Self::Padded),
        variant("shuffle", "Warps by shuffles, then the totals of the warps", Self::Shuffle),
        variant("two-reads", "The totals of tiles of 4096 values first, then the sums", Self::TwoReads),
        variant("single", "In a single pass, by a decoupled look-back of one thread", Self::Single),
        variant("window", "In a single pass, by a look-back of a warp, 32 tiles at a time", Self::Window),
        variant(
            "compact-two-reads",
            "The values that are not 0: counted in tiles first, then written",
            Self::CompactTwoReads,
        ),
        variant("compact-single", "The same in a single pass", Self::CompactSingle),
    ];
}

/// The flags of `host scan`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) methods: Chosen<Method>,
    #[command(flatten)]
    pub(super) values: VectorFlags,
    /// How many in a hundred of the random values are not 0 [default: 50]
    #[arg(long, value_name = "PERCENT", conflicts_with = "input", value_parser = whole_number(0, 100u32))]
    pub(super) keep: Option<u32>,
    /// The N of --padded: 5 for 32 banks, 4 for 16
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole_number(0, 16u32))]
    pub(super) log_banks: u32,
}

const HILLIS_STEELE: Row = Row::Named("hillis-steele");
const BLELLOCH: Row = Row::Named("blelloch");
const PADDED: Row = Row::Named("padded");
const SHUFFLE: Row = Row::Named("shuffle");
const TWO_READS: Row = Row::Named("two-reads");
const WINDOW: Row = Row::Named("window");

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[INSTRUCTIONS_FIRST, BARRIERS, BANK_CONFLICTS_FIRST, MOVED_OF_NEEDED],
    words: &[
        ("hillis-steele", "8 steps"),
        ("blelloch", "a tree"),
        ("padded", "a tree with padding"),
        ("shuffle", "in registers"),
        ("two-reads", "totals first"),
        ("single", "a thread looks back"),
        ("window", "a warp looks back"),
        ("compact-two-reads", "counts first"),
        ("compact-single", "a warp looks back"),
    ],
    removes: &[],
    left_out: &[],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "In a single pass, prefix sums are {} as in two, and {} as where blocks scan first and the totals are added later.",
        &[AsFast(WINDOW, TWO_READS), AsFast(WINDOW, SHUFFLE)],
    ),
    Conclusion::new(
        "Each block scans, and a second kernel adds what is before it: {} times the bytes needed. With totals first {}; in a \
         single pass, in which tiles look back, {}.",
        &[Of(SHUFFLE, &MOVED_OF_NEEDED), Of(TWO_READS, &MOVED_OF_NEEDED), Of(WINDOW, &MOVED_OF_NEEDED)],
    )
    .holds(&[Holds::More(0, 1), Holds::More(1, 2)]),
    Conclusion::new(
        "A tree needs fewer additions than eight steps, but has {} bank conflicts; with padding {}. Shuffles take {} warp \
         instructions, eight steps {}.",
        &[
            Of(BLELLOCH, &BANK_CONFLICTS_FIRST),
            Of(PADDED, &BANK_CONFLICTS_FIRST),
            Of(SHUFFLE, &INSTRUCTIONS_FIRST),
            Of(HILLIS_STEELE, &INSTRUCTIONS_FIRST),
        ],
    )
    .holds(&[Holds::More(0, 1), Holds::More(3, 2)]),
];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("device", "sim:hopper"), ("size", "4096"), ("blelloch", ""), ("padded", "")],
    row: "padded",
    beside: "blelloch",
    access: "shared load",
    slider: Some(Slider {
        flag: "log-banks",
        title: "padding after 2^N words: N",
        range: (0, 8, 8),
        other: 5,
        with: "",
    }),
    goals: &[Goal {
        ask: "Free the tree of bank conflicts: after how many words does it need one of padding?",
        row: PADDED,
        measure: &BANK_CONFLICTS_FIRST,
        unit: " bank conflicts",
        bound: Bound::AtMost(Target::Number(0.0)),
        except: &[],
    }],
    ..Showcase::DEFAULTS
};
