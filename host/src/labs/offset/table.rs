//! The table of the lab: its variants, its flags, what its plot shows, and what it concludes.

use std::path::PathBuf;

use crate::flag_values::whole_number;
use clap::Args;
use picture::Scale;

use crate::labs::inputs::{DefaultSize, MemoryNeeds, VectorFlags};
use crate::labs::showcase::{Showcase, Slider};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{Fact, Name, Of, Whole};
use crate::report::measures::{
    A_LOAD, A_LOAD_IN_UNITS, GBPS, LOADED_BYTES_USED, SECTORS_A_LOAD, SECTORS_A_STORE, SPEEDUP, TRANSACTIONS_A_LOAD,
    TRANSACTIONS_A_STORE,
};
use crate::report::{
    Better, Bound, Cell, Conclusion, Cost, FirstScreen, Goal, Holds, LabReport, Measure, Row, Rows, Section, Sweep,
    Target, VariantReport,
};

pub(super) const SIZE: DefaultSize = DefaultSize { on_gpu: 1 << 26, on_simulator: 1 << 16 };

/// Three vectors on the device; A, B and one output at a time on the host.
pub(super) const NEEDS: MemoryNeeds = MemoryNeeds { what: "adding vectors", on_device: 3, on_host: 3 };

/// Which side is shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Both loads.
    Read,
    /// The store.
    Write,
}

impl Variants for Side {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("read", "Shift the reads: `C[i] = A[i+offset] + B[i+offset]`", Self::Read),
        variant("write", "Shift the writes: `C[i+offset] = A[i] + B[i]`", Self::Write),
    ];
}

/// The flags of `host offset`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) sides: Chosen<Side>,
    /// The offsets k in elements, separated by commas [default: 0, 1 and 8, where below the size]
    #[arg(long, value_name = "K,...", value_delimiter = ',', value_parser = whole_number(0, u64::MAX))]
    pub(super) offset: Vec<u64>,
    /// All offsets from 0 to 32, and 128
    #[arg(long, conflicts_with = "offset")]
    pub(super) all: bool,
    /// Threads of a block
    #[arg(long, value_name = "NUMBER", default_value_t = 256, value_parser = whole_number(1, 1024u32))]
    pub(super) block: u32,
    // The vector A.
    #[command(flatten)]
    pub(super) a: VectorFlags,
    /// Take the float32 vector in this NumPy file as B instead of a random one
    #[arg(long, value_name = "B.npy", requires = "input")]
    pub(super) input_b: Option<PathBuf>,
}

const ALIGNED: Row = Row::At(&[("group", "read"), ("offset", "0")]);
const SECTOR: Row = Row::At(&[("group", "read"), ("offset", "8")]);
const WORST: Row = Row::Most(&[("group", "read")], &A_LOAD);
const SLOWEST: Row = Row::Most(&[], &SLOWDOWN);

/// How many times as long as the first offset of its side.
const SLOWDOWN: Measure = Measure::new(SPEEDUP.section, "slowdown", &["slow-down"], Better::Lower, |variant| {
    variant.speedup.map(|speedup| Cell::number(1.0 / speedup))
});

/// What a shifted access takes, in sectors or in an older GPU's transactions.
const SHIFTED: [Measure; 2] = [
    Measure::new(Section::Counter, "shifted_sectors", &["sectors", "per request"], Better::Lower, |variant| {
        shifted(variant, "sectors")
    }),
    Measure::new(
        Section::Counter,
        "shifted_transactions",
        &["transactions", "per request"],
        Better::Lower,
        |variant| shifted(variant, "transactions"),
    ),
];

/// That, in the GPU's unit.
const SHIFTED_IN_UNITS: Measure =
    Measure::new(Section::Counter, "shifted_cost", &["shifted", "access"], Better::Lower, |variant| {
        cost(variant).map(|cost| Cell::new(cost.per_request, cost.to_string()))
    });

fn cost(variant: &VariantReport) -> Option<Cost> {
    let counters = variant.counters.as_ref()?;
    if variant.group == "write" { Cost::of_stores(counters) } else { Cost::of_loads(counters) }
}

fn shifted(variant: &VariantReport, unit: &str) -> Option<Cell> {
    cost(variant).filter(|cost| cost.unit == unit).map(|cost| Cell::number(cost.per_request))
}

/// Whether offset 0 is the first, and another one the slowest.
fn begins_at_0(report: &LabReport) -> bool {
    let is_0 = |variant: &VariantReport| variant.fact("offset") == Some(&0.into());
    report.variants.first().is_some_and(is_0) && SLOWEST.find(report).is_some_and(|slowest| !is_0(slowest))
}

/// The picture of a warp has a whole number, and the mean is a little less where the last warp has
/// fewer lanes.
fn but_for_the_last(report: &LabReport) -> Option<Cell> {
    let mean = A_LOAD.of(WORST.find(report)?)?.value?;
    let text = match mean.ceil() - mean {
        missing if missing > 0.0 && missing < 0.1 => format!(" ({} in all but the last warp)", mean.ceil()),
        _ => String::new(),
    };
    Some(Cell::new(mean, text))
}

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[SECTORS_A_LOAD, TRANSACTIONS_A_LOAD, SECTORS_A_STORE, TRANSACTIONS_A_STORE],
    words: &[],
    removes: &[],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "The slowest offset, {}, takes {} times as long as offset 0: neighbouring warps share it in the cache.",
        &[Name(SLOWEST), Of(SLOWEST, &SLOWDOWN)],
    )
    .holds(&[Holds::If(begins_at_0)]),
    Conclusion::new(
        "A warp's load takes {} at offset 0 and {} at offset {}{}: {} and {} of their bytes are used.",
        &[
            Of(ALIGNED, &A_LOAD_IN_UNITS),
            Of(WORST, &A_LOAD),
            Fact(WORST, "offset"),
            Whole(but_for_the_last),
            Of(ALIGNED, &LOADED_BYTES_USED),
            Of(WORST, &LOADED_BYTES_USED),
        ],
    )
    .holds(&[Holds::More(1, 0)]),
    Conclusion::new(
        "Offset 8 is a whole sector: a load takes {}, as at offset 0.",
        &[Of(SECTOR, &A_LOAD), Of(ALIGNED, &A_LOAD)],
    )
    .holds(&[Holds::Same(0, 1)]),
];

pub(super) const SWEEPS: &[Sweep] = &[Sweep {
    x: "offset",
    title: "offset, floats",
    scale: Scale::Linear,
    series: &["shifted"],
    rows: Rows::All,
    timed: (&GBPS, Scale::Linear),
    counted: (&[&SHIFTED[0], &SHIFTED[1]], Scale::Linear),
}];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("read", ""), ("size", "4096")],
    row: "read+{}",
    access: "global load",
    slider: Some(Slider { flag: "offset", title: "offset, floats", range: (0, 64, 11), other: 64, with: "0," }),
    goals: &[Goal {
        ask: "Find an offset other than 0 at which a warp's access costs no more than at 0.",
        row: Row::LastAt(&[]),
        measure: &SHIFTED_IN_UNITS,
        unit: "",
        bound: Bound::AtMost(Target::Row(Row::At(&[("offset", "0")]))),
        except: &[("offset", "0")],
    }],
    ..Showcase::DEFAULTS
};
