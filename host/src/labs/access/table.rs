//! The table of the lab: its patterns, its flags, what its grids show, and what it concludes.

use crate::flag_values::whole_number;
use clap::Args;
use device::{DeviceChoice, LoadCaching, Model};
use picture::Scale;
use simt::counts::{MemoryCounters, TransactionCounters};

use crate::labs::showcase::{Showcase, Slider};
use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{self, Fact, Of, Times};
use crate::report::measures::{A_LOAD_IN_UNITS, GBPS, LOADED_BYTES_USED, SECTORS_A_LOAD, SECTORS_A_STORE, TIME};
use crate::report::{
    Better, Bound, Cell, Conclusion, FirstScreen, Goal, Holds, Meaning, Measure, Row, Rows, Section, Sweep, Target,
    of_each_model,
};
use crate::units::percent;

/// Loads or stores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Loads,
    Stores,
}

impl Variants for Side {
    const TITLE: &'static str = "Variants";
    const TABLE: &'static [VariantSpec<Self>] = &[
        variant("loads", "Load with each pattern", Self::Loads),
        variant("stores", "Store with each pattern", Self::Stores),
    ];
}

/// What the names of the patterns mean.
pub(super) const MEANINGS: &[Meaning] = &[
    ("aligned", "Neighbouring words, from the start of a line"),
    ("permuted", "The same words in another order of lanes"),
    ("misaligned", "Neighbouring words, from the second word of a line"),
    ("one word", "One word for all lanes"),
    ("stride N", "Every Nth word"),
    ("scattered", "Each lane in a line of its own"),
    ("random", "Each lane anywhere"),
    ("fermi:ca", "A Tesla C2050: loads of lines of 128 bytes, through L1; stores of 32, 64 or 128 bytes"),
    ("fermi:cg", "The same, with loads of 32 bytes, past L1"),
    ("hopper", "An H200: loads and stores of sectors of 32 bytes"),
];

/// The flags of `host access`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    pub(super) sides: Chosen<Side>,
    /// Threads, one access each
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1, 1u64 << 26))]
    pub(super) size: Option<u64>,
    /// Strides in elements, separated by commas [default: 2,8; with --all 2,3,8,16,32]
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = whole_number(2, 1024u32))]
    pub(super) stride: Vec<u32>,
    /// All patterns: further strides, one word for all, anywhere, and differences of two elements
    #[arg(long)]
    pub(super) all: bool,
    /// On the simulator without a model: the models to compare, separated by commas, as for
    /// --device sim:MODEL
    #[arg(long, value_name = "MODEL,...", value_delimiter = ',', value_parser = model,
          default_value = "fermi:ca,fermi:cg,hopper")]
    pub(super) models: Vec<ModelChoice>,
}

/// A model, and how it caches loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelChoice(pub(super) &'static Model, pub(super) LoadCaching);

fn model(text: &str) -> std::result::Result<ModelChoice, String> {
    match format!("sim:{text}").parse() {
        Ok(DeviceChoice::Model(model, caching)) => Ok(ModelChoice(model, caching)),
        _ => Err(format!("unknown model '{text}'; give some of {}", device::models_named())),
    }
}

/// Bytes that move for a request: the same unit on every model.
fn moved(counted: MemoryCounters, modelled: Option<TransactionCounters>) -> Option<Cell> {
    let bytes = modelled.map_or(counted.sectors * SECTOR_BYTES, |modelled| modelled.bytes_moved);
    let requests = counted.requests;
    Some(match bytes.checked_rem(requests)? {
        0 => Cell::count(bytes / requests),
        _ => Cell::number(bytes as f64 / requests as f64),
    })
}

/// Transactions for each request: on a model in its transactions, else in sectors.
fn transactions(counted: MemoryCounters, modelled: Option<TransactionCounters>) -> Option<Cell> {
    let transactions = modelled.map_or(counted.sectors, |modelled| modelled.transactions);
    (counted.requests > 0).then(|| Cell::number(transactions as f64 / counted.requests as f64))
}

/// The percentage of their bytes that was requested.
fn used(counted: MemoryCounters, modelled: Option<TransactionCounters>) -> Option<Cell> {
    let percent = modelled.map_or(counted.percent_of_bytes_used(), |modelled| modelled.percent_used())?;
    Some(Cell::number(percent))
}

const SECTOR_BYTES: u64 = 32;

/// What a grid of loads shows.
pub(super) const LOADS: &[&Measure] = &[&GBPS, &LOAD_MOVED];

/// What a grid of stores shows.
pub(super) const STORES: &[&Measure] = &[&GBPS, &STORE_MOVED];

const MOVED: &[&str] = &["bytes moved per request"];

const LOAD_MOVED: Measure = Measure::counted(Section::Counter, "moved_per_load", MOVED, Better::Lower, |counters| {
    moved(counters.global.load, counters.model.map(|model| model.global_load))
})
.unit("bytes")
.explained(of_each_model);

const STORE_MOVED: Measure = Measure::counted(Section::Counter, "moved_per_store", MOVED, Better::Lower, |counters| {
    moved(counters.global.store, counters.model.map(|model| model.global_store))
})
.unit("bytes")
.explained(of_each_model);

const TRANSACTIONS: &[&str] = &["transactions", "per request"];
const USED: &[&str] = &["% used"];

const LOAD_TRANSACTIONS: Measure =
    Measure::counted(Section::Counter, "transactions_per_load", TRANSACTIONS, Better::Lower, |counters| {
        transactions(counters.global.load, counters.model.map(|model| model.global_load))
    })
    .explained(of_each_model);

/// Patterns by model.
pub(super) const SWEEPS: &[Sweep] = &[sweep("loads", &[&MOVED_BY_A_LOAD]), sweep("stores", &[&MOVED_BY_A_STORE])];

const fn sweep(group: &'static str, counted: &'static [&'static Measure]) -> Sweep {
    Sweep {
        x: "pattern",
        title: "pattern",
        scale: Scale::Names,
        series: &["model"],
        rows: Rows::Group(group),
        timed: (&GBPS, Scale::Linear),
        counted: (counted, Scale::Linear),
    }
}

// Transactions have different sizes on different models; bytes compare.
const MOVED_BY_A_LOAD: Measure = LOAD_MOVED.titled(&["bytes moved", "per load"]);
const MOVED_BY_A_STORE: Measure = STORE_MOVED.titled(&["bytes moved", "per store"]);

/// The share of the bytes that are used, for a sentence.
const USED_SHARE: Measure = Measure::counted(Section::Counter, "used", USED, Better::Higher, |counters| {
    let share = used(counters.global.load, counters.model.map(|model| model.global_load))?.value?;
    Some(Cell::new(share, percent(share)))
});

// The last device's: the newest of the models, if there are several.
const ALIGNED_ROW: Row = Row::LastAt(&[("access", "load"), ("pattern", "aligned")]);
const PERMUTED_ROW: Row = Row::LastAt(&[("access", "load"), ("pattern", "permuted")]);
const MISALIGNED_ROW: Row = Row::LastAt(&[("access", "load"), ("pattern", "misaligned")]);
const SCATTERED_ROW: Row = Row::LastAt(&[("access", "load"), ("pattern", "scattered")]);
const ON: Gap = Fact(ALIGNED_ROW, "model");
const ALIGNED: Gap = Of(ALIGNED_ROW, &LOAD_TRANSACTIONS);
const ALIGNED_IN_UNITS: Gap = Of(ALIGNED_ROW, &A_LOAD_IN_UNITS);
const PERMUTED: Gap = Of(PERMUTED_ROW, &LOAD_TRANSACTIONS);
const MISALIGNED: Gap = Of(MISALIGNED_ROW, &LOAD_TRANSACTIONS);
const SCATTERED: Gap = Of(SCATTERED_ROW, &LOAD_TRANSACTIONS);
const SCATTERED_USED: Gap = Of(SCATTERED_ROW, &USED_SHARE);

// Beside a model of sectors, one whose L1 has lines.
const LINES: Row = Row::At(&[("access", "load"), ("pattern", "scattered"), ("model", "fermi:ca")]);

/// What a terminal shows first.
pub(super) const FIRST: FirstScreen = FirstScreen {
    axes: &[],
    columns: &[SECTORS_A_LOAD, SECTORS_A_STORE],
    words: &[("fermi:ca", "lines of 128"), ("fermi:cg", "sectors of 32"), ("hopper", "sectors of 32")],
    removes: &[],
    left_out: &[],
};

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "Scattered loads take {} times as long as aligned ones.",
        &[Times(Row::Named("load scattered"), Row::Named("load aligned"), &TIME)],
    ),
    Conclusion::new(
        "A warp pays for the sectors it touches: {} bytes aligned, in any order of lanes, {} misaligned, {} scattered. Fermi's L1 fetches \
         lines of 128 bytes: {} scattered.",
        &[
            Of(ALIGNED_ROW, &LOAD_MOVED),
            Of(MISALIGNED_ROW, &LOAD_MOVED),
            Of(SCATTERED_ROW, &LOAD_MOVED),
            Of(LINES, &LOAD_MOVED),
            Of(PERMUTED_ROW, &LOAD_MOVED),
        ],
    )
    .holds(&[Holds::Same(0, 4), Holds::More(3, 2)]),
    Conclusion::new(
        "A warp pays for the memory it touches, not for what it requests: on {}, an aligned load takes {} in any order of lanes, \
         a misaligned one {}, a scattered one {}, of which it uses {}.",
        &[ON, ALIGNED_IN_UNITS, MISALIGNED, SCATTERED, SCATTERED_USED, PERMUTED, ALIGNED],
    )
    .holds(&[Holds::Same(6, 5), Holds::If(|report| LINES.find(report).is_none())]),
    Conclusion::new(
        "On {}, a warp's aligned load takes {} transactions, in another order of lanes {}; a misaligned one takes {}, a scattered one {}, \
         of whose bytes it uses {}.",
        &[ON, ALIGNED, PERMUTED, MISALIGNED, SCATTERED, SCATTERED_USED],
    )
    .holds(&[Holds::Differ(1, 2)]),
];

pub(super) const SHOWCASE: Showcase = Showcase {
    start: &[("loads", ""), ("size", "256"), ("models", "hopper")],
    row: "load stride {} on hopper",
    access: "global load",
    slider: Some(Slider { flag: "stride", title: "stride, elements", range: (2, 33, 2), other: 33, with: "" }),
    goals: &[Goal {
        ask: "Find a stride at which at most a quarter of the loaded bytes are used.",
        row: Row::LastNamed("load stride"),
        measure: &LOADED_BYTES_USED,
        unit: " of the loaded bytes are used",
        bound: Bound::AtMost(Target::Number(25.0)),
        except: &[],
    }],
    ..Showcase::DEFAULTS
};
