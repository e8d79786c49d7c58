//! The table of the lab: its tasks and memories, its flags, and what it concludes.

use crate::flag_values::whole_number;
use clap::Args;

use crate::labs::inputs::{DefaultSize, MemoryNeeds, VectorFlags};
use crate::labs::showcase::{Showcase, Steps};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{self, AsFast, Of, Whole};
use crate::report::measures::{ADDRESSES_A_LOAD, CONSTANT_ADDRESSES, PREDICTED_TIME};
use crate::report::{
    Better, Bound, Cell, Conclusion, FirstScreen, Goal, Holds, LabReport, Measure, Row, Section, Target,
};

pub(super) const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 26, on_simulator: 1 << 19 };

/// The numbers, the bytes and the output on the device; the same on the host.
pub(super) const NEEDS: MemoryNeeds = MemoryNeeds { what: "an array", on_device: 3, on_host: 3 };

/// What a variant computes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Polynomial,
    Gamma,
    Lookup,
    Set,
}

impl Variants for Task {
    const TITLE: &'static str = "Tasks";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("polynomial", "A polynomial: all lanes read the same coefficient", Self::Polynomial),
        variant("gamma", "A gamma correction: all lanes read the same two parameters", Self::Gamma),
        variant(
            "lookup",
            "A table of 256 entries: each lane reads a random one, so that nearly all differ",
            Self::Lookup,
        ),
        variant("set", "Set a constant and read it back, synchronously and on a stream", Self::Set).timed(),
    ];
}

/// Where the constants are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    Constant,
    Global,
}

impl Variants for Memory {
    const TITLE: &'static str = "Memories";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("constant", "Read from constant memory", Self::Constant),
        variant("global", "Read from global memory", Self::Global),
    ];
}

/// The flags of `host constant`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) tasks: Chosen<Task>,
    #[command(flatten)]
    pub(super) memories: Chosen<Memory>,
    // The inputs of the polynomial and the gamma correction: numbers from 0 to 1.
    #[command(flatten)]
    pub(super) x: VectorFlags,
    /// Threads of a block
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = whole_number(1, 1024u32))]
    pub(super) block: u32,
}

const POLYNOMIAL: Row = Row::Named("polynomial-constant");
const POLYNOMIAL_GLOBAL: Row = Row::Named("polynomial-global");
const LOOKUP: Row = Row::Named("lookup-constant");
const LOOKUP_GLOBAL: Row = Row::Named("lookup-global");

/// The sectors of a lookup in global memory: what is more there than from constant memory.
fn sectors_of_a_lookup(report: &LabReport) -> Option<Cell> {
    let loads = |row: Row| Some(row.find(report)?.counters?.global.load);
    let (constant, global) = (loads(LOOKUP)?, loads(LOOKUP_GLOBAL)?);
    let lookups = global.requests.checked_sub(constant.requests).filter(|&lookups| lookups > 0)?;
    let sectors = global.sectors.checked_sub(constant.sectors)?;
    Some(Cell::number(sectors as f64 / lookups as f64))
}

/// The sectors of a load of the same from global memory: the loads of the data are left out.
const SECTORS_OF_THE_SAME: Measure =
    Measure::new(Section::Counter, "sectors_of_the_same", &["sectors", "a global load"], Better::Lower, |variant| {
        let loads = variant.counters?.global.load;
        let lookup = variant.fact("task")?.as_str()? == "lookup";
        let bytes = if lookup { 1 } else { 4 };
        let elements = variant.useful_bytes / (bytes + 4);
        let requests = loads.requests.checked_sub(elements.div_ceil(32)).filter(|&requests| requests > 0)?;
        let sectors = loads.sectors.checked_sub((elements * bytes).div_ceil(32))?;
        Some(Cell::number(sectors as f64 / requests as f64))
    });

/// What the two ways to read cost, and the times of the second.
const TIMES: &[Gap] = &[
    Of(POLYNOMIAL, &CONSTANT_ADDRESSES),
    Of(LOOKUP, &CONSTANT_ADDRESSES),
    Of(LOOKUP, &PREDICTED_TIME),
    Of(LOOKUP_GLOBAL, &PREDICTED_TIME),
];

/// Whether one address for all lanes takes as long from either memory, by the prediction.
fn is_as_fast(report: &LabReport) -> bool {
    let time = |row: Row| Some(row.find(report)?.predicted_time()?.time_ms);
    let ratio = time(POLYNOMIAL).zip(time(POLYNOMIAL_GLOBAL)).map(|(constant, global)| constant / global);
    ratio.is_some_and(|ratio| (0.97..1.03).contains(&ratio))
}

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[ADDRESSES_A_LOAD, SECTORS_OF_THE_SAME],
    words: &[
        ("polynomial", "the same coefficient"),
        ("gamma", "the same parameters"),
        ("lookup", "a random entry for each lane"),
    ],
    removes: &[],
    left_out: &["gamma"],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "For the polynomial, constant memory is {} as global memory; for the table it is {}.",
        &[AsFast(POLYNOMIAL, POLYNOMIAL_GLOBAL), AsFast(LOOKUP, LOOKUP_GLOBAL)],
    ),
    Conclusion::new(
        "One address for all 32 lanes of a warp is {} access, here as fast as from global memory. A random table entry for each lane is {} \
         addresses (equal ones share), served one after another: {}, against {} from global memory.",
        TIMES,
    )
    .holds(&[Holds::More(1, 0), Holds::More(2, 3), Holds::If(is_as_fast)]),
    Conclusion::new(
        "One address for all 32 lanes of a warp is {} access. A random table entry for each lane is {} addresses (equal ones share), \
         served one after another: {}, against {} from global memory.",
        TIMES,
    )
    .holds(&[Holds::More(1, 0), Holds::More(2, 3), Holds::If(|report| !is_as_fast(report))]),
    Conclusion::new(
        "One address for all 32 lanes of a warp is {} access. A random table entry for each lane is {} addresses (equal ones share), \
         served one after another; in global memory the entries lie in {} sectors, which one load fetches together.",
        &[Of(POLYNOMIAL, &CONSTANT_ADDRESSES), Of(LOOKUP, &CONSTANT_ADDRESSES), Whole(sectors_of_a_lookup)],
    )
    .holds(&[
        Holds::More(1, 0),
        Holds::If(|report| LOOKUP.find(report).is_some_and(|row| row.predicted_time().is_none())),
    ]),
];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("size", "2048")],
    row: "polynomial-constant",
    beside: "lookup-constant",
    access: "constant load",
    charted: Some(("polynomial-constant", "lookup-constant")),
    steps: Some(Steps {
        title: "what a warp reads",
        rows: &[
            ("polynomial-constant", "coefficients"),
            ("gamma-constant", "parameters"),
            ("lookup-constant", "a table"),
        ],
    }),
    goals: &[Goal {
        ask: "Find the task for which constant memory is the wrong place: more than 8 addresses a load.",
        row: Row::Named(""),
        measure: &CONSTANT_ADDRESSES,
        unit: " addresses a load",
        bound: Bound::AtLeast(Target::Number(8.0)),
        except: &[],
    }],
    ..Showcase::DEFAULTS
};
