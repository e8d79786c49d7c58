//! Runs the labs on this machine's GPU for `cargo xtask results --measure`. [`super`] calls it; it
//! saves the measurements after each run, so an interruption loses none.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::measurements::{Results, Run, Twin, Variant};
use super::{Options, plan};
use crate::program::{Error, Failed, file, json, lab, list, machine, spread_percent, succeed, text, timed};
use crate::records;

/// The depth of the records in the file.
const DEPTH: usize = 4;

/// Seconds for each variant in a round beside nvcc's.
const TWIN_SECONDS: &str = "0.1";

/// Runs all measurements, and saves the results after each command.
pub(super) fn all(options: &Options, root: &Path, results: &mut Results, data: &Path) -> Result<(), Error> {
    let host = std::fs::canonicalize(&options.run.host).map_err(|problem| file(&options.run.host, problem))?;
    let wanted = |arguments: &str| options.run.only.as_deref().is_none_or(|only| only == lab(arguments));
    results.machine = machine(Some(&options.nvcc), &host)?;
    let sheets = plan::SHEETS.iter().flat_map(|sheet| sheet.commands).map(|(_, arguments)| arguments);
    for arguments in sheets.chain(plan::LABS).filter(|arguments| wanted(arguments)) {
        let report = timed(&format!("host {arguments}"), || report(&host, arguments, None, &[]))?;
        results.runs.insert((*arguments).to_owned(), run_of(&report));
        results.note_date(lab(arguments));
        records::save(results, DEPTH, data)?;
    }
    let scratch = tempfile::tempdir().map_err(|problem| file(Path::new("a folder for PTX"), problem))?;
    for arguments in plan::TWINS.iter().filter(|arguments| wanted(arguments)) {
        let lab = lab(arguments);
        let ptx = scratch.path().join(format!("{lab}.ptx"));
        let source = root.join(format!("docs/compare/{lab}.cu"));
        // nvcc compiles for the compute capability of the results' device.
        succeed(Command::new(&options.nvcc).args(["-ptx", "-arch=sm_90", "-o"]).arg(&ptx).arg(source))?;
        let what = format!("host {arguments}, and nvcc's kernels");
        results.twins.insert((*arguments).to_owned(), timed(&what, || beside(&host, arguments, &ptx, options.rounds))?);
        results.note_date(lab);
        records::save(results, DEPTH, data)?;
    }
    Ok(())
}

impl Results {
    /// Notes that a lab was measured on the machine's date.
    fn note_date(&mut self, lab: &str) {
        self.dates.insert(lab.to_owned(), self.machine.date.clone());
    }
}

/// Times our kernels and nvcc's in turn.
fn beside(host: &Path, arguments: &str, ptx: &Path, rounds: usize) -> Result<Vec<Twin>, Failed> {
    let mut twins: Vec<Twin> = Vec::new();
    for _ in 0..rounds {
        for ptx in [None, Some(ptx)] {
            let report = report(host, arguments, ptx, &["--time-limit", TWIN_SECONDS])?;
            for (index, variant) in list(&report["variants"]).iter().enumerate() {
                let Some(time) = variant["time_ms"].as_f64() else { continue };
                let (name, kernel) = (text(&variant["name"]), text(&variant["kernels"][0]));
                // A variant without a kernel has no counterpart of nvcc's.
                if kernel.is_empty() {
                    continue;
                }
                if twins.iter().all(|twin| twin.variant != name) {
                    let (rust_ms, nvcc_ms) = (Vec::new(), Vec::new());
                    twins.insert(twins.len().min(index), Twin { variant: name.clone(), kernel, rust_ms, nvcc_ms });
                }
                if let Some(twin) = twins.iter_mut().find(|twin| twin.variant == name) {
                    let times = if ptx.is_none() { &mut twin.rust_ms } else { &mut twin.nvcc_ms };
                    times.push(time);
                }
            }
        }
    }
    Ok(twins)
}

/// The JSON of a lab on the GPU.
fn report(host: &Path, arguments: &str, ptx: Option<&Path>, more: &[&str]) -> Result<Value, Failed> {
    let mut command = Command::new(host);
    command.args(arguments.split(' ')).args(["--device", "gpu", "--format", "json"]).args(more);
    if let Some(ptx) = ptx {
        command.arg("--ptx").arg(ptx);
    }
    json(&mut command)
}

/// The part of a report to keep.
fn run_of(report: &Value) -> Run {
    let variant = |variant: &Value| {
        Some(Variant {
            name: text(&variant["name"]),
            time_ms: variant["time_ms"].as_f64()?,
            warm_time_ms: variant["warm_time_ms"].as_f64(),
            spread_percent: spread_percent(variant).unwrap_or_default(),
            gbps: variant["gbps"].as_f64(),
            percent_of_copy: variant["percent_of_copy"].as_f64(),
            percent_of_limit: variant["percent_of_limit"].as_f64(),
            gflops: variant["gflops"].as_f64(),
            speedup: variant["speedup"].as_f64(),
            occupancy: variant["occupancy"]["percent"].as_f64(),
            bytes_in_flight: variant["parameters"]["bytes_in_flight_per_full_multiprocessor"].as_f64(),
        })
    };
    Run {
        copy_gbps: report["device_copy"]["gbps"].as_f64(),
        conclusions: list(&report["conclusions"]).iter().map(text).collect(),
        variants: list(&report["variants"]).iter().filter_map(variant).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_keeps_its_date_until_it_is_measured_again() {
        let mut results = Results::default();
        let mut measure = |lab: &str, today: &str| {
            results.machine.date = today.to_owned();
            results.note_date(lab);
            results.earlier().map(|(lab, date)| format!("{lab} {date}")).collect::<Vec<_>>().join(", ")
        };
        for lab in ["dot", "gram", "rows"] {
            measure(lab, "Monday");
        }
        assert_eq!(measure("dot", "Monday"), "");
        assert_eq!(measure("dot", "Tuesday"), "gram Monday, rows Monday");
        assert_eq!(measure("gram", "Tuesday"), "rows Monday");
        assert_eq!(measure("gram", "Thursday"), "dot Tuesday, rows Monday");
        assert_eq!(measure("rows", "Thursday"), "dot Tuesday");
    }
}
