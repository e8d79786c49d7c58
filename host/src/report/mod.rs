//! Writes a lab's results in the chosen format. `cli` calls it with what a lab returned.
//!
//! A lab's run ends in one [`LabReport`]; a format only writes it. A new format is one file here, one variant of [`Format`] and one
//! arm in [`write()`].

mod columns;
mod cost;
mod csv;
mod format;
mod grid;
mod json;
mod lab_report;
mod launch_times;
mod legend;
mod markdown;
mod subject;
mod table;

use std::io::Write;

use device::{Counters, Properties, Result};

pub use cost::Cost;
pub use format::Format;
pub use grid::{Cell, Grid};
pub use lab_report::{
    Comparison, CounterSource, DeviceCopy, Fact, LabReport, Limit, Mismatch, Tolerance, Tolerated, VariantReport,
};
pub(crate) use lab_report::{Metrics, plain};
pub(crate) use launch_times::LaunchTimes;
pub use subject::Subject;

/// Writes the report.
///
/// # Errors
///
/// [`device::Error::Output`] when writing to `out` fails.
pub fn write(report: &LabReport, format: Format, out: &mut dyn Write) -> Result<()> {
    let text = match format {
        Format::Table => table::render(report),
        Format::Json => json::render(report),
        Format::Csv => csv::render(report),
        Format::Markdown => markdown::render(report),
    };
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// The times and counters of one launch of any kernel, as a table for people, with the columns that
/// suit the kernel's accesses. Empty if nothing is known.
pub(crate) fn of_launch(
    kernel: &str,
    counters: Option<&Counters>,
    times: Option<&LaunchTimes>,
    device: &Properties,
) -> String {
    match (counters, times) {
        (None, None) => String::new(),
        _ => table::of_launch(kernel, counters, times, device),
    }
}

#[cfg(test)]
mod tests;
