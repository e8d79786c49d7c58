//! The table of the lab: its methods and values, its flags, and what it concludes.

use clap::Args;
use picture::Counted;
use serde_json::Value;

use crate::flag_values::whole_number;
use crate::labs::inputs::{DefaultSize, MemoryNeeds, VectorFlags};
use crate::labs::showcase::{Showcase, Slider};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{AsFast, Of, Whole};
use crate::report::measures::{ATOMICS, ATOMICS_ON_ONE_WORD};
use crate::report::{Bound, Cell, Conclusion, Elements, FirstScreen, Goal, Holds, LabReport, Measure, Row, Target};

pub(super) const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 27, on_simulator: 1 << 17 };

/// Values of a thread: enough that a block's sums cost little beside them.
pub(super) const EACH: DefaultSize = DefaultSize { on_gpu: 256, on_simulator: 16 };

/// Three kinds of values on the device, and on the host.
pub(super) const NEEDS: MemoryNeeds = MemoryNeeds { what: "histograms of bytes", on_device: 3, on_host: 3 };

/// Where a value is counted first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Global,
    Ballot,
    Match,
    Shared,
    Warp,
}

impl Variants for Method {
    const TITLE: &'static str = "Methods";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("global", "Every value is added in global memory", Self::Global),
        variant(
            "ballot",
            "Lanes with the same value find each other by eight votes; one adds their number",
            Self::Ballot,
        ),
        variant("match", "The same by one instruction, `match.any.sync`", Self::Match),
        variant(
            "shared",
            "A histogram for each block, in shared memory; its sums are added in global memory",
            Self::Shared,
        ),
        variant("warp", "A histogram for each warp, in shared memory", Self::Warp),
    ];
}

/// Which values are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Spread,
    Skewed,
    Alike,
}

impl Variants for Kind {
    const TITLE: &'static str = "Values";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("spread", "Random values, all equally likely", Self::Spread),
        variant("skewed", "Half the values are 0, a quarter are 1, an eighth are 2, ...", Self::Skewed),
        variant("alike", "One value, everywhere", Self::Alike),
    ];
}

/// The flags of `host atomics`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) methods: Chosen<Method>,
    #[command(flatten)]
    pub(super) kinds: Chosen<Kind>,
    #[command(flatten)]
    pub(super) values: VectorFlags,
    /// How many different values --spread has
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = whole_number(1, 256u32))]
    pub(super) distinct: u32,
    /// Values of a thread
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 65536u32))]
    pub(super) each: Option<u32>,
}

const GLOBAL_ALIKE: Row = Row::Named("global-alike");
const GLOBAL_SPREAD: Row = Row::Named("global-spread");
const MATCH_ALIKE: Row = Row::Named("match-alike");
const SHARED_ALIKE: Row = Row::Named("shared-alike");
const SHARED_SPREAD: Row = Row::Named("shared-spread");

/// The atomic operations on the counter that gets most.
const BUSIEST: Measure = ATOMICS_ON_ONE_WORD.titled(&["most on", "one counter"]);

/// How many different values there are, in words.
fn distinct(report: &LabReport) -> Option<Cell> {
    let distinct = report.parameters.get("distinct").and_then(Value::as_u64)?;
    Some(Cell::text(match distinct {
        1 => "one value everywhere".to_owned(),
        more => format!("{more} different values"),
    }))
}

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[
        BUSIEST,
        ATOMICS[0].titled(&["global atomic", "requests"]),
        ATOMICS[1].titled(&["shared atomic", "requests"]),
    ],
    words: &[
        ("global", "every value"),
        ("match", "a warp's equal values first"),
        ("shared", "a histogram per block"),
        ("warp", "a histogram per warp"),
    ],
    removes: &[],
    left_out: &["ballot", "skewed"],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "Where all values are alike, a histogram in each block's shared memory is {} as one in global memory; where they are spread, it is \
         {}.",
        &[AsFast(SHARED_ALIKE, GLOBAL_ALIKE), AsFast(SHARED_SPREAD, GLOBAL_SPREAD)],
    ),
    Conclusion::new(
        "If all values are alike, one counter in global memory gets {} operations, one after the other; if they are spread, at most {}. If each \
         warp first adds up its equal values (match), it gets {}; if each block counts in shared memory (shared, warp), {}.",
        &[
            Of(GLOBAL_ALIKE, &BUSIEST),
            Of(GLOBAL_SPREAD, &BUSIEST),
            Of(MATCH_ALIKE, &BUSIEST),
            Of(SHARED_ALIKE, &BUSIEST),
        ],
    )
    .holds(&[Holds::More(0, 1), Holds::More(0, 2), Holds::More(2, 3)]),
    Conclusion::new(
        "With {}, one counter in global memory gets {} operations, one after the other; if each block counts in shared \
         memory, {}.",
        &[
            Whole(distinct),
            Of(GLOBAL_SPREAD, &BUSIEST),
            Of(SHARED_SPREAD, &BUSIEST),
        ],
    )
    .holds(&[Holds::More(1, 2), Holds::If(|report| GLOBAL_ALIKE.find(report).is_none())]),
    Conclusion::new(
        "A histogram for each warp is {} as one for each block, whose lanes that add to one word are counted in one pass.",
        &[AsFast(Row::Named("warp-alike"), SHARED_ALIKE)],
    ),
];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("device", "sim:hopper"), ("size", "4096"), ("spread", ""), ("global", ""), ("shared", "")],
    row: "global-spread",
    beside: "",
    access: "global reduction",
    elements: Some(Elements {
        rows: &["global-spread", "shared-spread"],
        arrays: &["counters"],
        counted: Counted::Atomics,
    }),
    slider: Some(Slider { flag: "distinct", title: "different values", range: (1, 64, 1), other: 64, with: "" }),
    goals: &[Goal {
        ask: "Let no counter in global memory get more than 128 operations, whatever the values.",
        row: GLOBAL_SPREAD,
        measure: &BUSIEST,
        unit: " operations on one counter",
        bound: Bound::AtMost(Target::Number(128.0)),
        except: &[],
    }],
    ..Showcase::DEFAULTS
};
