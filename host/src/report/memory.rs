//! The memory chart of a report: of the one or two rows that ran, or of the two that the lab names.
//! `--picture memory`, `--report` and a lab's page show it. Pure.

use device::{Error, Result};
use picture::{MemoryChart, MemoryPanel};

use super::variant_report::VariantReport;
use crate::units;

/// The two rows that a lab's chart compares where more ran.
pub(crate) type Charted = Option<(&'static str, &'static str)>;

/// The chart; `None` if nothing was counted, or if more than two rows ran and no two are named.
pub(crate) fn chart(variants: &[VariantReport], charted: Charted) -> Option<MemoryChart> {
    let counted: Vec<&VariantReport> = variants.iter().filter(|variant| variant.counters.is_some()).collect();
    let rows = match (counted.as_slice(), charted) {
        ([], _) => return None,
        ([_] | [_, _], _) => counted,
        (_, Some((first, second))) => {
            let named = |name: &str| counted.iter().find(|row| row.name == name).copied();
            vec![named(first)?, named(second)?]
        }
        _ => return None,
    };
    Some(MemoryChart { panels: rows.into_iter().filter_map(panel).collect() })
}

/// Fails unless these rows have a chart.
pub(crate) fn check_rows<'r>(rows: impl Iterator<Item = &'r str>, charted: Charted) -> Result<()> {
    let rows: Vec<&str> = rows.collect();
    let has = |name| rows.contains(&name);
    if rows.len() <= 2 || charted.is_some_and(|(first, second)| has(first) && has(second)) {
        return Ok(());
    }
    let problem = format!("memory is drawn of one row or two; {} would run, choose among them", rows.len());
    Err(Error::request("--picture", problem))
}

fn panel(variant: &VariantReport) -> Option<MemoryPanel> {
    Some(MemoryPanel::new(&variant.name, note(variant), variant.counters.as_ref()?))
}

/// The predicted time, unless it is that of starting the launch.
fn note(variant: &VariantReport) -> String {
    let time = variant.predicted_time().filter(|time| !time.is_of_too_little && time.limit.name() != "launch");
    time.map_or(String::new(), |time| {
        let (took, limit) = (units::milliseconds(time.time_ms), time.limit.name());
        format!("{took} predicted for {}, limited by {limit}", time.model.chip)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> VariantReport {
        VariantReport { name: name.into(), counters: Some(Default::default()), ..VariantReport::default() }
    }

    #[test]
    fn more_than_two_rows_are_charted_by_name() {
        let rows = ["a", "b", "c"].map(row);
        let names = |chart: MemoryChart| chart.panels.into_iter().map(|panel| panel.name).collect::<Vec<_>>();
        assert_eq!(names(chart(&rows[..1], None).unwrap()), ["a"]);
        assert_eq!(names(chart(&rows[1..], Some(("a", "b"))).unwrap()), ["b", "c"]);
        assert_eq!(names(chart(&rows, Some(("a", "c"))).unwrap()), ["a", "c"]);
        assert!(chart(&rows, Some(("a", "d"))).is_none() && chart(&rows, None).is_none() && chart(&[], None).is_none());
        let check = |charted| check_rows(["a", "b", "c"].into_iter(), charted);
        assert!(check(Some(("a", "c"))).is_ok());
        let error = check(Some(("a", "d"))).unwrap_err().to_string();
        assert!(error.contains("3 would run, choose among them"), "{error}");
    }

    #[test]
    fn a_row_without_counts_has_no_chart() {
        assert!(chart(&[VariantReport::default()], None).is_none());
    }
}
