//! The report of several launches of `host run`, in each format. [`Report`] writes a single launch.
//! [`super`] calls it.
//!
//! As JSON: `{"device", "correct", "predicted", "launches", "buffers"}`. `"predicted"` is the
//! predicted time of all launches, one after the other, if there is one. Each of `"launches"` has
//! `{"kernel", "counters", "lines", "faults", "output"}` as in the JSON of one launch; a launch
//! that a fault stopped is the last. `"buffers"` are those after all launches.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use device::{Error, Properties, Result, names};
use serde::Serialize;
use serde_json::Value;

use super::output::{Buffers, Launched, Report, unwritten_runs};
use super::validate::Launch;
use crate::faults::Findings;
use crate::orders::OrdersReport;
use crate::report::{Format, RowPrediction, predicted_rows};
use crate::requirements::Verdict;
use crate::{listing, messages, units};

#[derive(Serialize)]
struct Json<'a> {
    device: &'a Properties,
    correct: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted: Option<&'a RowPrediction>,
    launches: Vec<Launched<'a>>,
    buffers: Buffers<'a>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unwritten: BTreeMap<&'a str, Vec<[usize; 2]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    orders: Option<&'a OrdersReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goals: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline: Option<Value>,
}

/// Writes the reports of the launches, of which `asked` were requested. `predicted` is their time
/// together.
pub(super) fn write(
    reports: &[Report<'_>],
    predicted: Option<&RowPrediction>,
    asked: usize,
    format: Format,
    out: &mut dyn Write,
) -> Result<()> {
    let Some(last) = reports.last() else { return Ok(()) };
    if asked == 1 {
        last.write(format, out)?;
        return if format == Format::Table { last.write_goals(out) } else { Ok(()) };
    }
    match format {
        Format::Json => {
            let launches = reports.iter().map(Report::launched).collect();
            let json = Json {
                device: last.device,
                correct: None,
                predicted,
                launches,
                buffers: Buffers(&last.buffers),
                unwritten: unwritten_runs(&last.buffers),
                orders: last.orders.as_ref(),
                goals: last.goals.as_ref().and_then(Verdict::goals_json),
                baseline: last.goals.as_ref().and_then(Verdict::baseline_json),
            };
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
            if let Some(RowPrediction::Time(time)) = predicted {
                let all = units::milliseconds(time.time_ms);
                writeln!(out, "\nAll launches, one after the other, predicted for {}: {all}.", time.model.chip)?;
            }
            last.write_goals(out)
        }
        _ if last.stopped => Ok(()),
        Format::Csv | Format::Markdown => {
            let of_launch = |(index, report): (usize, &Report<'_>)| {
                let kernel = report.kernel.to_owned();
                let row = move |[name, value]: [String; 2]| vec![index.to_string(), kernel.clone(), name, value];
                report.rows().into_iter().map(row).collect::<Vec<_>>()
            };
            let rows = reports.iter().enumerate().flat_map(of_launch);
            let all = predicted.into_iter().flat_map(predicted_rows);
            let all = all.map(|[name, value]| vec![String::new(), String::new(), name, value]);
            let buffers = last.order_rows().into_iter().chain(last.goal_rows()).chain(last.buffer_rows());
            let buffers = buffers.map(|[name, value]| vec![String::new(), String::new(), name, value]);
            let titles = ["launch", "kernel", "name", "value"];
            listing::write(format, &titles, rows.chain(all).chain(buffers).collect(), Value::Null, out)
        }
    }
}

/// Writes the sanitizer's findings to the standard error, with each launch's number if there are
/// several.
pub(super) fn print_findings(findings: &[Findings], launches: &[Launch<'_>], format: Format, sources: &[PathBuf]) {
    for (index, (findings, launch)) in findings.iter().zip(launches).enumerate() {
        if launches.len() > 1 && format != Format::Json && !findings.list.is_empty() {
            messages::write(&format!("In launch {index}, {}:\n\n", names::shown(&launch.function.name)));
        }
        findings.print(format, sources);
    }
}

/// The error for the findings, if there are any. Findings of one kernel in two launches count
/// twice.
pub(super) fn error(findings: &[Findings]) -> Option<Error> {
    let all = Findings {
        list: findings.iter().flat_map(|findings| findings.list.iter().cloned()).collect(),
        beyond: findings.iter().map(|findings| findings.beyond).sum(),
    };
    all.error()
}

/// The fault, prefixed with the number of the launch that it stopped if there are several.
pub(super) fn with_launch(fault: Error, ran: usize, asked: usize) -> Error {
    match fault {
        Error::Fault { kernel, fault, trap } if asked > 1 => {
            let launch = ran.saturating_sub(1);
            Error::Fault { kernel, fault: format!("launch {launch}: {fault}"), trap }
        }
        other => other,
    }
}
