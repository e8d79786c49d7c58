//! Writes a comparison in each format. [`super`] calls it last; it returns the text and prints
//! nothing.

use std::io::Write;

use device::Result;
use wording::printable;

use super::pairs::{LabTimes, Row, RunTimes, Side, title, words};
use super::verdict::Verdict;
use crate::report::Format;
use crate::{listing, units};

/// The columns of a table for people.
pub(super) const TITLES: [&str; 7] = ["variant", "cache", "before", "after", "after / before", "+- %", "after is"];

/// The columns of CSV, by their names in JSON.
const NAMES: [&str; 9] =
    ["lab", "parameters", "name", "cache", "before_ms", "after_ms", "ratio", "uncertainty_percent", "verdict"];

/// Writes the comparison.
///
/// # Errors
///
/// [`device::Error::Output`] when writing to `out` fails.
pub(super) fn write(comparison: &RunTimes, format: Format, out: &mut dyn Write) -> Result<()> {
    match format {
        Format::Json => {
            let json = serde_json::to_value(comparison).unwrap_or_default();
            listing::write(format, &[], vec![], json, out)
        }
        Format::Csv => {
            let rows = comparison.labs.iter().flat_map(|lab| lab.variants.iter().map(|row| csv_row(lab, row)));
            listing::write(format, &NAMES, rows.collect(), serde_json::Value::Null, out)
        }
        Format::Table | Format::Markdown => for_people(comparison, format, out),
    }
}

fn csv_row(lab: &LabTimes, row: &Row) -> Vec<String> {
    vec![
        lab.lab.clone(),
        words(&lab.parameters),
        row.name.clone(),
        row.cache.words().to_owned(),
        row.before_ms.to_string(),
        row.after_ms.to_string(),
        row.ratio.to_string(),
        row.uncertainty_percent.to_string(),
        row.verdict.words().to_owned(),
    ]
}

/// A table for each lab, with the doubts and what was not compared.
fn for_people(comparison: &RunTimes, format: Format, out: &mut dyn Write) -> Result<()> {
    // A hard line break in Markdown.
    let end = if format == Format::Markdown { "  " } else { "" };
    for (side, when) in [(&comparison.before, "before"), (&comparison.after, "after")] {
        let Side { file, devices } = side;
        let devices: Vec<_> = devices.iter().map(|device| printable(device)).collect();
        writeln!(out, "{when}: {} on {}{end}", printable(file), devices.join(" and "))?;
    }
    for lab in &comparison.labs {
        writeln!(out, "\n{}\n", printable(&title(&lab.lab, &lab.parameters)))?;
        if !lab.variants.is_empty() {
            let rows = lab.variants.iter().map(row).collect();
            listing::write(format, &TITLES, rows, serde_json::Value::Null, out)?;
            writeln!(out, "\n{}", sum(&lab.variants))?;
        }
        list(out, "Not compared", &lab.not_compared)?;
        list(out, "Doubtful", &lab.doubts)?;
    }
    list(out, "Not compared", &comparison.not_compared)?;
    out.flush()?;
    Ok(())
}

/// A variant's cells.
pub(super) fn row(row: &Row) -> Vec<String> {
    vec![
        printable(&row.name),
        row.cache.words().to_owned(),
        units::milliseconds(row.before_ms),
        units::milliseconds(row.after_ms),
        format!("{:.3}", row.ratio),
        format!("{:.1}", row.uncertainty_percent),
        row.verdict.words().to_owned(),
    ]
}

/// How often each verdict occurs.
pub(super) fn sum(rows: &[Row]) -> String {
    let count = |verdict: Verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let said = Verdict::ALL.into_iter().filter(|&verdict| count(verdict) > 0);
    let said: Vec<_> = said.map(|verdict| format!("{} {}", count(verdict), verdict.words())).collect();
    format!("{}.", said.join(", "))
}

/// A list with its title, a line for each of its entries.
fn list(out: &mut dyn Write, title: &str, entries: &[String]) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}:")?;
    for entry in entries {
        writeln!(out, "- {}", printable(entry))?;
    }
    Ok(())
}
