//! The table of the lab: its variants, its flags, what its plot shows, and what it concludes.

use std::path::PathBuf;

use crate::flag_values::whole_number;
use clap::Args;
use picture::Scale;

use crate::labs::inputs::{DefaultSize, MemoryNeeds, VectorFlags};
use crate::labs::showcase::{Showcase, Slider};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{Fact, Name, Of};
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
    /// The offsets k in elements, separated by commas [default: 0, 1 and 8, on the simulator also
    /// 4, 11 and 32, where below the size]
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

/// The offset in bytes.
const OFFSET_BYTES: Measure =
    Measure::new(Section::Counter, "offset_bytes", &["offset,", "bytes"], Better::Neither, |variant| {
        variant.counters.as_ref()?;
        Some(Cell::count(variant.fact("offset")?.as_u64()? * size_of::<f32>() as u64))
    });

/// Whether a load at offset 8 takes what one at offset 0 does.
fn sectors_align(report: &LabReport) -> bool {
    let of = |row: Row| A_LOAD_IN_UNITS.of(row.find(report)?).map(|cell| cell.text);
    of(SECTOR).is_some() && of(SECTOR) == of(ALIGNED)
}

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[OFFSET_BYTES, SECTORS_A_LOAD, TRANSACTIONS_A_LOAD, SECTORS_A_STORE, TRANSACTIONS_A_STORE],
    words: &[("offset", "floats")],
    removes: &[],
    left_out: &[],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "The slowest offset, {}, takes {} times as long as offset 0: neighbouring warps share the extra sector in the cache.",
        &[Name(SLOWEST), Of(SLOWEST, &SLOWDOWN)],
    )
    .holds(&[Holds::If(begins_at_0)]),
    Conclusion::new(
        "A warp whose load begins at a multiple of 32 bytes (offset 0 or 8 floats) takes {}; at offset {} it takes {} and uses {} of \
         their bytes.",
        &[
            Of(ALIGNED, &A_LOAD_IN_UNITS),
            Fact(WORST, "offset"),
            Of(WORST, &A_LOAD),
            Of(WORST, &LOADED_BYTES_USED),
        ],
    )
    .holds(&[Holds::More(2, 0), Holds::If(sectors_align)]),
    Conclusion::new(
        "A warp's load takes {} at offset 0 and {} at offset {}: {} and {} of their bytes are used.",
        &[
            Of(ALIGNED, &A_LOAD_IN_UNITS),
            Of(WORST, &A_LOAD),
            Fact(WORST, "offset"),
            Of(ALIGNED, &LOADED_BYTES_USED),
            Of(WORST, &LOADED_BYTES_USED),
        ],
    )
    .holds(&[Holds::More(1, 0), Holds::If(|report| !sectors_align(report))]),
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
    start: &[("read", ""), ("size", "16384")],
    row: "read+{}",
    access: "global load",
    slider: Some(Slider { flag: "offset", title: "offset, floats", range: (0, 64, 11), other: 64, with: "0," }),
    goals: &[Goal {
        ask: "Find an offset other than 0 at which a warp's access costs no more than at 0.",
        row: Row::LastAt(&[]),
        measure: &SHIFTED_IN_UNITS,
        unit: " on average",
        bound: Bound::AtMost(Target::Row(Row::At(&[("offset", "0")]))),
        except: &[("offset", "0")],
    }],
    ..Showcase::DEFAULTS
};
