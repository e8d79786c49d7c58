//! The columns of tables for people, and a variant's cells in them. What is not known is a dash, and a column in which
//! nothing is known is left out.

use super::{LabReport, VariantReport};
use crate::units;

/// What a column is about: times and counters stand in tables of their own where a report has both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// The variant's name: in every table.
    Name,
    /// Whether the result was right.
    Check,
    /// How long it took.
    Time,
    /// What was counted.
    Counter,
    /// What the caches did.
    Cache,
}

/// A column.
pub(super) struct Column {
    /// What it is about.
    pub subject: Subject,
    /// Its title, a line of a table's head each.
    pub title: &'static [&'static str],
    cell: fn(&VariantReport) -> Option<String>,
}

impl Column {
    /// The variant's cell.
    pub fn cell(&self, variant: &VariantReport) -> String {
        (self.cell)(variant).unwrap_or_else(|| "-".to_owned())
    }
}

/// The columns of `report` that have something in them and are about one of `subjects`.
pub(super) fn of(report: &LabReport, subjects: &[Subject]) -> Vec<&'static Column> {
    let known = |column: &&Column| {
        report.variants.is_empty() || report.variants.iter().any(|variant| (column.cell)(variant).is_some())
    };
    COLUMNS.iter().filter(|column| subjects.contains(&column.subject)).filter(known).collect()
}

const COLUMNS: [Column; 23] = [
    Column { subject: Subject::Name, title: &["variant"], cell: |variant| Some(variant.name.clone()) },
    Column {
        subject: Subject::Check,
        title: &["right"],
        cell: |variant| Some(if variant.correct()? { "yes" } else { "NO" }.to_owned()),
    },
    Column {
        subject: Subject::Check,
        title: &["worst", "error"],
        cell: |variant| Some(error(variant.check.as_ref()?.max_error)),
    },
    Column {
        subject: Subject::Check,
        title: &["faults"],
        cell: |variant| Some(variant.findings.as_ref()?.list.len().to_string()),
    },
    Column {
        subject: Subject::Time,
        title: &["time,", "median"],
        cell: |variant| variant.timing.as_ref().map(|timing| units::milliseconds(timing.median_ms)),
    },
    Column {
        subject: Subject::Time,
        title: &["spread,", "+- %"],
        cell: |variant| variant.timing.as_ref().map(|timing| format!("{:.1}", timing.spread_percent())),
    },
    Column { subject: Subject::Time, title: &["GB/s"], cell: |variant| variant.gbps.map(units::three_digits) },
    Column {
        subject: Subject::Time,
        title: &["% of the", "device's copy"],
        cell: |variant| variant.percent_of_copy.map(|percent| format!("{percent:.1}")),
    },
    Column {
        subject: Subject::Time,
        title: &["speed-up over", "the first"],
        cell: |variant| variant.speedup.map(|speedup| format!("{speedup:.2}")),
    },
    Column {
        subject: Subject::Counter,
        title: &["loads:", "sectors per", "request"],
        cell: |variant| variant.counters?.global.load.sectors_per_request().map(units::three_digits),
    },
    Column {
        subject: Subject::Counter,
        title: &["loads:", "bytes", "used %"],
        cell: |variant| variant.counters?.global.load.percent_of_bytes_used().map(units::three_digits),
    },
    Column {
        subject: Subject::Counter,
        title: &["stores:", "sectors per", "request"],
        cell: |variant| variant.counters?.global.store.sectors_per_request().map(units::three_digits),
    },
    Column {
        subject: Subject::Counter,
        title: &["stores:", "bytes", "used %"],
        cell: |variant| variant.counters?.global.store.percent_of_bytes_used().map(units::three_digits),
    },
    Column {
        subject: Subject::Counter,
        title: &["shared loads:", "wavefronts", "per request"],
        cell: |variant| variant.counters?.shared.load.wavefronts_per_request().map(units::three_digits),
    },
    Column {
        subject: Subject::Counter,
        title: &["shared stores:", "wavefronts", "per request"],
        cell: |variant| variant.counters?.shared.store.wavefronts_per_request().map(units::three_digits),
    },
    Column {
        subject: Subject::Counter,
        title: &["active", "lanes"],
        cell: |variant| variant.counters?.active_lanes_per_instruction().map(units::three_digits),
    },
    Column {
        subject: Subject::Cache,
        title: &["loads:", "transactions"],
        cell: |variant| transactions(&variant.counters?.model?.global_load),
    },
    Column {
        subject: Subject::Cache,
        title: &["stores:", "transactions"],
        cell: |variant| transactions(&variant.counters?.model?.global_store),
    },
    Column {
        subject: Subject::Cache,
        title: &["L1 hits", "%"],
        cell: |variant| variant.counters?.model?.caches.l1_global_load.hit_percent().map(units::three_digits),
    },
    Column {
        subject: Subject::Cache,
        title: &["L2 read", "hits %"],
        cell: |variant| variant.counters?.model?.caches.l2_read.hit_percent().map(units::three_digits),
    },
    Column {
        subject: Subject::Cache,
        title: &["DRAM", "read"],
        cell: |variant| Some(units::bytes(variant.counters?.model?.caches.dram_read_bytes)),
    },
    Column {
        subject: Subject::Cache,
        title: &["DRAM", "written"],
        cell: |variant| Some(units::bytes(variant.counters?.model?.caches.dram_write_bytes)),
    },
    Column {
        subject: Subject::Cache,
        title: &["occupancy %,", "limited by"],
        cell: |variant| {
            let occupancy = variant.counters?.occupancy?;
            let limiters: Vec<_> = occupancy.limiters().map(simt::Limiter::name).collect();
            Some(format!("{} {}", units::three_digits(occupancy.percent()), limiters.join(", ")))
        },
    },
];

/// Transactions and the part of their bytes that was asked for.
fn transactions(counters: &simt::TransactionCounters) -> Option<String> {
    Some(format!("{} {:>4}%", counters.transactions, units::three_digits(counters.percent_used()?)))
}

/// An error in few characters.
fn error(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if (0.001..1e5).contains(&value) {
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
