//! The table of the lab: its patterns, its flags, what its grids show, and what it concludes.

use clap::Args;
use device::flag_values::whole_number;
use device::{DeviceChoice, LoadCaching, Model};
use kernels::access::Pattern;
use picture::Scale;
use simt::{MemoryCounters, TransactionCounters};

use crate::labs::variants::{Chosen, VariantSpec, Variants, variant};
use crate::report::Gap::{self, Of, Times};
use crate::report::measures::{GBPS, TIME};
use crate::report::{Better, Cell, Conclusion, Holds, Measure, Row, Rows, Section, Sweep, of_each_model};
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
    /// On the simulator without a model: the models to compare, separated by commas, as for --device sim:MODEL
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

/// What each thread does.
#[derive(Clone, Copy)]
pub(super) enum Task {
    /// Loads the pattern's element.
    Load(Pattern),
    /// Stores to the pattern's element.
    Store(Pattern),
    /// Loads `a[scale * i + shift]` and `a[i]`.
    Difference { scale: u32, shift: u32 },
}

impl Task {
    /// The last element that it touches, for this many threads.
    pub(super) fn last(self, threads: u32) -> u64 {
        match self {
            Self::Load(pattern) | Self::Store(pattern) => {
                let i = match pattern.scatter_bits {
                    0 => threads.next_multiple_of(32) - 1,
                    bits => (1 << bits) - 1,
                };
                u64::from(i) * u64::from(pattern.stride) + u64::from(pattern.offset)
            }
            Self::Difference { scale, shift } => u64::from(threads) * u64::from(scale) + u64::from(shift),
        }
    }
}

/// The tasks that the flags request, by name.
pub(super) fn tasks(options: &Options, threads: u32) -> Vec<(String, Task)> {
    let (all, aligned) = (options.all, Pattern::ALIGNED);
    let scatter_bits = threads.max(32).next_power_of_two().ilog2();
    let strides = match (options.stride.as_slice(), all) {
        ([], true) => &[2, 3, 8, 16, 32],
        ([], false) => &[2, 8][..],
        (strides, _) => strides,
    };
    let strides = strides.iter().map(|&stride| (format!("stride {stride}"), Pattern { stride, ..aligned }, false));
    let named = |name: &str, pattern, extra| (name.to_owned(), pattern, extra);
    let patterns = [
        named("aligned", aligned, false),
        named("permuted", Pattern { exchange: 5, ..aligned }, false),
        named("misaligned", Pattern { offset: 1, ..aligned }, false),
        named("one word", Pattern { stride: 0, ..aligned }, true),
    ];
    // Each thread in a cache line of its own; and anywhere.
    let scattered = [
        named("scattered", Pattern { stride: 32, scatter_bits, ..aligned }, false),
        named("random", Pattern { scatter_bits, ..aligned }, true),
    ];
    let patterns = patterns.into_iter().chain(strides).chain(scattered).filter(|(.., extra)| all || !extra);
    let patterns: Vec<_> = patterns.collect();
    let mut tasks = Vec::new();
    for side in options.sides.chosen() {
        let of_side = |(name, pattern, _): &(String, Pattern, bool)| match side.of {
            Side::Loads => (format!("load {name}"), Task::Load(*pattern)),
            Side::Stores => (format!("store {name}"), Task::Store(*pattern)),
        };
        tasks.extend(patterns.iter().map(of_side));
        if all && side.of == Side::Loads {
            tasks.push(("load a[i+1]-a[i]".to_owned(), Task::Difference { scale: 1, shift: 1 }));
            tasks.push(("load a[64i]-a[i]".to_owned(), Task::Difference { scale: 64, shift: 0 }));
        }
    }
    tasks
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

/// What a grid of loads shows.
pub(super) const LOADS: &[&Measure] = &[&GBPS, &LOAD_TRANSACTIONS, &LOAD_USED];

/// What a grid of stores shows.
pub(super) const STORES: &[&Measure] = &[&GBPS, &STORE_TRANSACTIONS, &STORE_USED];

const TRANSACTIONS: &[&str] = &["transactions"];
const USED: &[&str] = &["% used"];

const LOAD_TRANSACTIONS: Measure =
    Measure::counted(Section::Counter, "transactions_per_load", TRANSACTIONS, Better::Lower, |counters| {
        transactions(counters.global.load, counters.model.map(|model| model.global_load))
    })
    .explained(of_each_model);

const LOAD_USED: Measure =
    Measure::counted(Section::Counter, "loaded_bytes_used_percent", USED, Better::Higher, |counters| {
        used(counters.global.load, counters.model.map(|model| model.global_load))
    })
    .unit("%");

const STORE_TRANSACTIONS: Measure =
    Measure::counted(Section::Counter, "transactions_per_store", TRANSACTIONS, Better::Lower, |counters| {
        transactions(counters.global.store, counters.model.map(|model| model.global_store))
    })
    .explained(of_each_model);

const STORE_USED: Measure =
    Measure::counted(Section::Counter, "stored_bytes_used_percent", USED, Better::Higher, |counters| {
        used(counters.global.store, counters.model.map(|model| model.global_store))
    })
    .unit("%");

/// Patterns by model.
pub(super) const SWEEPS: &[Sweep] =
    &[sweep("loads", &[&LOAD_TRANSACTIONS_OF_A_REQUEST]), sweep("stores", &[&STORE_TRANSACTIONS_OF_A_REQUEST])];

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

const LOAD_TRANSACTIONS_OF_A_REQUEST: Measure = LOAD_TRANSACTIONS.titled(&["transactions", "per load"]);
const STORE_TRANSACTIONS_OF_A_REQUEST: Measure = STORE_TRANSACTIONS.titled(&["transactions", "per store"]);

/// The share of the bytes that are used, for a sentence.
const USED_SHARE: Measure = Measure::counted(Section::Counter, "used", USED, Better::Higher, |counters| {
    let share = used(counters.global.load, counters.model.map(|model| model.global_load))?.value?;
    Some(Cell::new(share, percent(share)))
});

// The last device's: the newest of the models, if there are several.
const ALIGNED: Gap = Of(Row::LastAt(&[("pattern", "load aligned")]), &LOAD_TRANSACTIONS);
const PERMUTED: Gap = Of(Row::LastAt(&[("pattern", "load permuted")]), &LOAD_TRANSACTIONS);
const MISALIGNED: Gap = Of(Row::LastAt(&[("pattern", "load misaligned")]), &LOAD_TRANSACTIONS);
const SCATTERED: Gap = Of(Row::LastAt(&[("pattern", "load scattered")]), &LOAD_TRANSACTIONS);
const SCATTERED_USED: Gap = Of(Row::LastAt(&[("pattern", "load scattered")]), &USED_SHARE);

pub(super) const CONCLUSIONS: &[Conclusion] = &[
    Conclusion::new(
        "Scattered loads take {} times as long as aligned ones.",
        &[Times(Row::Named("load scattered"), Row::Named("load aligned"), &TIME)],
    ),
    Conclusion::new(
        "A warp's aligned load takes {} transactions, and the order of its lanes does not matter; misaligned it takes {}, scattered {}, \
         of whose bytes {} is used.",
        &[ALIGNED, MISALIGNED, SCATTERED, SCATTERED_USED, PERMUTED],
    )
    .holds(&[Holds::Same(0, 4)]),
    Conclusion::new(
        "A warp's aligned load takes {} transactions, in another order {}; misaligned it takes {}, scattered {}, of whose bytes {} is used.",
        &[ALIGNED, PERMUTED, MISALIGNED, SCATTERED, SCATTERED_USED],
    )
    .holds(&[Holds::Differ(0, 1)]),
];
