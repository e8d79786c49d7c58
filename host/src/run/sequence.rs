//! The report of several launches, in each of the formats. A single launch is written as [`Report`] does.
//!
//! As JSON: `{"device", "correct", "launches", "buffers"}`. Each of `"launches"` has `{"kernel", "counters", "lines", "faults",
//! "output"}` as the JSON of one launch has them; one that a fault has stopped is the last. `"buffers"` are those after all of them.

use std::io::Write;

use serde::Serialize;
use serde_json::Value;

use super::output::{Buffers, Launched, Report};
use super::validate::Launch;
use crate::device::Properties;
use crate::error::{Error, Result};
use crate::faults::Findings;
use crate::listing;
use crate::names;
use crate::report::Format;

#[derive(Serialize)]
struct Json<'a> {
    device: &'a Properties,
    correct: Option<bool>,
    launches: Vec<Launched<'a>>,
    buffers: Buffers<'a>,
}

/// Writes what the launches found out, `asked` in all.
pub(super) fn write(reports: &[Report<'_>], asked: usize, format: Format, out: &mut dyn Write) -> Result<()> {
    let Some(last) = reports.last() else { return Ok(()) };
    if asked == 1 {
        return last.write(format, out);
    }
    match format {
        Format::Json => {
            let launches = reports.iter().map(Report::launched).collect();
            let json = Json { device: last.device, correct: None, launches, buffers: Buffers(&last.buffers) };
            serde_json::to_writer_pretty(&mut *out, &json).map_err(std::io::Error::from)?;
            writeln!(out)?;
            out.flush()?;
            Ok(())
        }
        Format::Table => {
            for (index, report) in reports.iter().enumerate() {
                let above = if index > 0 { "\n" } else { "" };
                match report.stopped {
                    false => writeln!(out, "{above}Launch {index}:")?,
                    true => writeln!(out, "{above}Launch {index}: {} was stopped", names::shown(report.kernel))?,
                }
                report.write(format, out)?;
            }
            Ok(())
        }
        _ if last.stopped => Ok(()),
        Format::Csv | Format::Markdown => {
            let of_launch = |(index, report): (usize, &Report<'_>)| {
                let kernel = report.kernel.to_owned();
                let row = move |[name, value]: [String; 2]| vec![index.to_string(), kernel.clone(), name, value];
                report.rows().into_iter().map(row).collect::<Vec<_>>()
            };
            let rows = reports.iter().enumerate().flat_map(of_launch);
            let buffers = last.buffer_rows().map(|[name, value]| vec![String::new(), String::new(), name, value]);
            let titles = ["launch", "kernel", "name", "value"];
            listing::write(format, &titles, rows.chain(buffers).collect(), Value::Null, out)
        }
    }
}

/// Shows what the sanitizer found on the standard error, each launch's with its number if there are several.
pub(super) fn tell(findings: &[Findings], launches: &[Launch<'_>], format: Format) {
    for (index, (findings, launch)) in findings.iter().zip(launches).enumerate() {
        if launches.len() > 1 && format != Format::Json && !findings.list.is_empty() {
            // Without a standard error there is nowhere to write this.
            let _ = writeln!(std::io::stderr(), "In launch {index}, {}:\n", names::shown(&launch.function.name));
        }
        findings.tell(format);
    }
}

/// The error that the findings are, if there are any: what a kernel did in two launches is two.
pub(super) fn error(findings: &[Findings]) -> Option<Error> {
    let all = Findings {
        list: findings.iter().flat_map(|findings| findings.list.iter().cloned()).collect(),
        beyond: findings.iter().map(|findings| findings.beyond).sum(),
    };
    all.error()
}

/// The fault with the launch that it stopped, the last of `ran`, if there are several.
pub(super) fn with_launch(fault: Error, ran: usize, asked: usize) -> Error {
    match fault {
        Error::Fault { kernel, fault, trap } if asked > 1 => {
            let launch = ran.saturating_sub(1);
            Error::Fault { kernel, fault: format!("launch {launch}: {fault}"), trap }
        }
        other => other,
    }
}
