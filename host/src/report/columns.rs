//! The columns of a lab's table, and a variant's cells in them. An unknown value is a dash; a column without any known
//! value is omitted. `table` and `markdown` call it. Pure.

use serde_json::Value;
use simt::Counters;

use super::cost::Cost;
use super::grid::words;
use super::lab_report::{VariantReport, plain};
use super::subject::Subject;
use crate::timing::Timing;
use crate::units;

/// A group of columns. A table keeps groups together if they fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// What names the variant, in every table: its name, or its position on the axes of a sweep.
    Name,
    /// Its position on the axes of a sweep, beside its name.
    Axis,
    /// Whether the result was right.
    Comparison,
    /// How long it took.
    Time,
    /// The counters.
    Counter,
    /// The caches and the occupancy of a model.
    Model,
}

/// A column, with its cells.
#[derive(Clone)]
pub(super) struct Column {
    /// The group that it belongs to.
    pub section: Section,
    /// Its title, one text for each line of the table's head.
    pub title: Vec<String>,
    /// Its cells, one for each variant.
    pub cells: Vec<String>,
}

impl Column {
    /// Its title on one line.
    pub fn text(&self) -> String {
        self.title.join(" ")
    }
}

/// The description of a column.
struct Kind {
    section: Section,
    title: &'static [&'static str],
    cell: fn(&VariantReport) -> Option<String>,
}

/// The columns that are not empty for these variants, in order.
pub(super) fn of(variants: &[VariantReport], subjects: &[Subject]) -> Vec<Column> {
    let mut columns = axes(variants);
    if axes_name_the_rows(variants, &columns) {
        columns.retain(varies);
        columns.iter_mut().for_each(|column| column.section = Section::Name);
    } else {
        columns.insert(0, build(variants, &NAME));
    }
    let counters = subjects.iter().flat_map(|&subject| counter_columns(subject));
    // A single series of times needs no name.
    let both = variants.iter().any(|variant| variant.warm_timing.is_some());
    let times = if both { COLD_AND_WARM } else { ONE_TIME };
    let kinds = CHECK.iter().chain(times).chain(RATES).chain(counters).chain(MODEL);
    columns.extend(kinds.filter(|kind| is_known(variants, kind)).map(|kind| build(variants, kind)));
    columns
}

/// The axes that all variants share the position on, as titles and values: the heading has them, where the table names its rows by
/// the others.
pub(super) fn common_axes(variants: &[VariantReport]) -> Vec<(String, String)> {
    let columns = axes(variants);
    if !axes_name_the_rows(variants, &columns) {
        return Vec::new();
    }
    let common = columns.into_iter().filter(|column| !varies(column));
    common.map(|column| (column.text(), column.cells[0].clone())).collect()
}

/// Whether the axes tell the variants apart, so that their names would only repeat them.
fn axes_name_the_rows(variants: &[VariantReport], axes: &[Column]) -> bool {
    let mut rows: Vec<Vec<&str>> =
        (0..variants.len()).map(|row| axes.iter().map(|axis| axis.cells[row].as_str()).collect()).collect();
    let all_placed = rows.iter().all(|row| row.iter().any(|&cell| cell != "-"));
    rows.sort_unstable();
    rows.dedup();
    variants.len() > 1 && all_placed && rows.len() == variants.len()
}

fn varies(column: &Column) -> bool {
    column.cells.iter().any(|cell| *cell != column.cells[0])
}

fn is_known(variants: &[VariantReport], kind: &Kind) -> bool {
    variants.iter().any(|variant| (kind.cell)(variant).is_some())
}

fn build(variants: &[VariantReport], kind: &Kind) -> Column {
    let cell = |variant| (kind.cell)(variant).unwrap_or_else(|| "-".to_owned());
    Column {
        section: kind.section,
        title: kind.title.iter().map(|&line| line.to_owned()).collect(),
        cells: variants.iter().map(cell).collect(),
    }
}

/// The axes of the lab's sweeps.
fn axes(variants: &[VariantReport]) -> Vec<Column> {
    let mut names: Vec<&'static str> = Vec::new();
    for fact in variants.iter().flat_map(|variant| &variant.facts).filter(|fact| fact.axis) {
        if !names.contains(&fact.name) && !fact.value.is_null() {
            names.push(fact.name);
        }
    }
    let column = |name| Column {
        section: Section::Axis,
        title: title(name),
        cells: variants
            .iter()
            .map(|variant| match variant.fact(name) {
                None | Some(Value::Null) => "-".to_owned(),
                Some(value) => plain(value),
            })
            .collect(),
    };
    names.into_iter().map(column).collect()
}

/// A name as a title of short lines.
fn title(name: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words(name).split(' ') {
        match lines.last_mut().filter(|line| line.len() + word.len() < 10) {
            Some(line) => *line += &format!(" {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

const NAME: Kind = Kind { section: Section::Name, title: &["variant"], cell: |variant| Some(variant.name.clone()) };

const CHECK: &[Kind] = &[
    Kind {
        section: Section::Comparison,
        title: &["right"],
        cell: |variant| Some(if variant.correct()? { "yes" } else { "NO" }.to_owned()),
    },
    Kind {
        section: Section::Comparison,
        title: &["worst", "error"],
        cell: |variant| Some(error(variant.comparison.as_ref()?.max_error)),
    },
    Kind {
        section: Section::Comparison,
        title: &["% of", "allowed"],
        cell: |variant| Some(part(variant.comparison.as_ref()?.tolerance.as_ref()?.worst_part * 100.0)),
    },
    Kind {
        section: Section::Comparison,
        title: &["faults"],
        cell: |variant| variant.findings.as_ref().map(|_| variant.faults().len().to_string()),
    },
];

/// A median time.
fn time(timing: Option<&Timing>) -> Option<String> {
    timing.map(|timing| units::milliseconds(timing.median_ms))
}

const ONE_TIME: &[Kind] =
    &[Kind { section: Section::Time, title: &["time,", "median"], cell: |variant| time(variant.timing.as_ref()) }];

const COLD_AND_WARM: &[Kind] = &[
    Kind { section: Section::Time, title: &["time,", "cold"], cell: |variant| time(variant.timing.as_ref()) },
    Kind { section: Section::Time, title: &["time,", "warm"], cell: |variant| time(variant.warm_timing.as_ref()) },
];

const RATES: &[Kind] = &[
    Kind {
        section: Section::Time,
        title: &["spread", "+- %"],
        cell: |variant| variant.timing.as_ref().map(|timing| format!("{:.1}", timing.spread_percent())),
    },
    Kind { section: Section::Time, title: &["GB/s"], cell: |variant| variant.gbps.map(units::three_digits) },
    Kind {
        section: Section::Time,
        title: &["% of", "copy"],
        cell: |variant| variant.percent_of_copy.map(|percent| format!("{percent:.1}")),
    },
    Kind { section: Section::Time, title: &["GFLOP/s"], cell: |variant| variant.gflops.map(units::three_digits) },
    Kind {
        section: Section::Time,
        title: &["% of", "limit"],
        cell: |variant| variant.limit().map(|(_, percent)| format!("{percent:.1}")),
    },
    Kind {
        section: Section::Time,
        title: &["speed-up", "over 1st"],
        cell: |variant| variant.speedup.map(|speedup| format!("{speedup:.2}")),
    },
    Kind {
        section: Section::Time,
        title: &["occup.", "%"],
        cell: |variant| variant.occupancy.map(|occupancy| units::three_digits(occupancy.percent)),
    },
];

/// A counter of the variant as a cell.
fn counted(variant: &VariantReport, of: impl Fn(&Counters) -> Option<String>) -> Option<String> {
    variant.counters.as_ref().and_then(of)
}

/// A number, unless it is 0.
fn some(count: u64) -> Option<String> {
    (count > 0).then(|| count.to_string())
}

/// Expands to a column of counters.
macro_rules! counter {
    ([$($title:literal),*], $of:expr) => {
        Kind { section: Section::Counter, title: &[$($title),*], cell: |variant| counted(variant, $of) }
    };
}

const SECTORS: &str = "sectors";
const TRANSACTIONS: &str = "transactions";

/// The cost of a request, if it is in this unit.
fn per_request(cost: Cost, unit: &str) -> Option<String> {
    (cost.unit == unit).then(|| units::three_digits(cost.per_request))
}

/// What is moved for what was requested, if the cost is in this unit.
fn per_ideal(cost: Cost, unit: &str) -> Option<String> {
    (cost.unit == unit).then(|| units::three_digits(cost.per_ideal))
}

fn counter_columns(subject: Subject) -> &'static [Kind] {
    match subject {
        Subject::GlobalLoads => &[
            counter!(["loads:", "sectors per", "request"], |counters| per_request(Cost::of_loads(counters)?, SECTORS)),
            counter!(["loads:", "sectors", "/ ideal"], |counters| per_ideal(Cost::of_loads(counters)?, SECTORS)),
            counter!(["loads:", "transactions", "per request"], |counters| {
                per_request(Cost::of_loads(counters)?, TRANSACTIONS)
            }),
            counter!(["loads:", "bytes moved", "/ asked"], |counters| {
                per_ideal(Cost::of_loads(counters)?, TRANSACTIONS)
            }),
        ],
        Subject::GlobalStores => &[
            counter!(["stores:", "sectors per", "request"], |counters| per_request(
                Cost::of_stores(counters)?,
                SECTORS
            )),
            counter!(["stores:", "sectors", "/ ideal"], |counters| per_ideal(Cost::of_stores(counters)?, SECTORS)),
            counter!(["stores:", "transactions", "per request"], |counters| {
                per_request(Cost::of_stores(counters)?, TRANSACTIONS)
            }),
            counter!(["stores:", "bytes moved", "/ asked"], |counters| {
                per_ideal(Cost::of_stores(counters)?, TRANSACTIONS)
            }),
        ],
        Subject::GlobalRequests => &[
            counter!(["load", "requests"], |counters| some(counters.global.load.requests)),
            counter!(["store", "requests"], |counters| some(counters.global.store.requests)),
        ],
        Subject::SharedLoads => &[counter!(["shared loads:", "wavefronts", "/ ideal"], |counters| {
            counters.shared.load.wavefronts_per_ideal().map(units::three_digits)
        })],
        Subject::SharedStores => &[counter!(["shared stores:", "wavefronts", "/ ideal"], |counters| {
            counters.shared.store.wavefronts_per_ideal().map(units::three_digits)
        })],
        Subject::BankConflicts => &[counter!(["bank", "conflicts"], |counters| {
            let shared = &counters.shared;
            let all = [&shared.load, &shared.store, &shared.atomic, &shared.reduction, &shared.copy];
            let requests: u64 = all.iter().map(|access| access.requests).sum();
            (requests > 0).then(|| all.iter().map(|access| access.bank_conflicts).sum::<u64>().to_string())
        })],
        Subject::ActiveLanes => &[counter!(["active", "lanes"], |counters| {
            counters.active_lanes_per_instruction().map(units::three_digits)
        })],
        Subject::Instructions => {
            &[counter!(["PTX warp", "instructions"], |counters| Some(counters.instructions_executed.to_string()))]
        }
        Subject::Atomics => &[
            counter!(["global", "atomics"], |counters| {
                some(counters.global.atomic.requests + counters.global.reduction.requests)
            }),
            counter!(["shared", "atomics"], |counters| {
                some(counters.shared.atomic.requests + counters.shared.reduction.requests)
            }),
        ],
        Subject::Constants => &[
            counter!(["constant", "requests"], |counters| some(counters.constant.requests)),
            counter!(["constant", "addresses", "per request"], |counters| {
                counters.constant.addresses_per_request().map(units::three_digits)
            }),
        ],
        Subject::Textures => &[
            counter!(["texture", "requests"], |counters| some(counters.texture.requests)),
            counter!(["texture", "sectors per", "request"], |counters| {
                counters.texture.sectors_per_request().map(units::three_digits)
            }),
            counter!(["texture", "sectors", "/ ideal"], |counters| {
                counters.texture.sectors_per_ideal().map(units::three_digits)
            }),
        ],
        Subject::LocalMemory => &[counter!(["local", "sectors"], |counters| {
            some(counters.local.load.sectors + counters.local.store.sectors)
        })],
    }
}

/// Expands to a column of a model's counters.
macro_rules! modelled {
    ([$($title:literal),*], $of:expr) => {
        Kind { section: Section::Model, title: &[$($title),*], cell: |variant| counted(variant, $of) }
    };
}

const MODEL: &[Kind] = &[
    modelled!(["L1 hits", "%"], |counters| {
        counters.model?.caches.l1_global_load.hit_percent().map(units::three_digits)
    }),
    modelled!(["read-only", "hits %"], |counters| {
        counters.model?.caches.read_only().hit_percent().map(units::three_digits)
    }),
    // What the read-only cache is for; without one, the transactions tell.
    modelled!(["from", "L2"], |counters| {
        let counted = counters.model.filter(|counted| counted.model.read_only.is_some())?;
        Some(units::bytes(counted.caches.l2_to_l1_sectors * 32))
    }),
    modelled!(["L2 read", "hits %"], |counters| counters.model?.caches.l2_read.hit_percent().map(units::three_digits)),
    modelled!(["DRAM", "read"], |counters| Some(units::bytes(counters.model?.caches.dram_read_bytes))),
    modelled!(["DRAM", "written"], |counters| Some(units::bytes(counters.model?.caches.dram_write_bytes))),
    modelled!(["occup.", "%"], |counters| Some(units::three_digits(counters.occupancy?.percent()))),
    modelled!(["occupancy", "limited by"], |counters| {
        let limiters: Vec<_> = counters.occupancy?.limiters().map(simt::Limiter::name).collect();
        Some(limiters.join(", "))
    }),
];

/// Larger numbers have an exponent.
const MOST_WRITTEN_OUT: f64 = 1e5;

/// Smaller percentages are shown as smaller than this.
const LEAST_WRITTEN_OUT: f64 = 0.001;

/// A percentage of the allowed error: that of a wrong result may be as large as the error itself.
fn part(percent: f64) -> String {
    match percent {
        0.0 => "0".to_owned(),
        part if part < LEAST_WRITTEN_OUT => format!("<{LEAST_WRITTEN_OUT}"),
        part if part < MOST_WRITTEN_OUT => units::three_digits(part),
        part => error(part),
    }
}

/// An error in few characters.
fn error(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if (0.001..MOST_WRITTEN_OUT).contains(&value) {
        units::three_digits(value)
    } else if value.is_finite() {
        format!("{value:.0e}")
    } else {
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::error;

    #[test]
    fn errors_are_short() {
        let cases =
            [(0.0, "0"), (2.0, "2.00"), (0.5, "0.500"), (6e-8, "6e-8"), (1.6e36, "2e36"), (f64::INFINITY, "inf")];
        for (value, text) in cases {
            assert_eq!(error(value), text);
        }
    }
}
