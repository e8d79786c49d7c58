//! `host course`: runs every lab with its defaults and prints a line for each, to show whether a
//! machine is ready for a class. `cli` calls it; it runs labs through [`crate::labs`] as their
//! subcommands do, and writes to the output that it is given.

mod page;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::flag_values::{seconds, whole_number};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use common::output_file;
use device::{Device, Error, Result};
use serde::Serialize;
use wording::{one_line, printable};

use crate::faults::{SanitizerFlags, checks_by_default};
use crate::labs::{self, Entry, Settings};
use crate::predicted::PredictFlags;
use crate::progress::Progress;
use crate::report::{Format, LabReport};
use crate::{listing, units};

/// The flags of `host course`.
#[derive(Args, Clone, Debug)]
struct Flags {
    /// Seed of the random data; the same seed gives the same data everywhere
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = whole_number(0, u64::MAX))]
    seed: u64,
    /// Time one variant on a GPU for at most this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "0.1", value_parser = seconds)]
    time_limit: Duration,
    /// Also write this web page: the report of each lab, with pictures of its accesses and its
    /// source
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[command(flatten)]
    checks: SanitizerFlags,
}

/// The subcommand.
pub fn command() -> Command {
    Flags::augment_args(Command::new("course"))
        .mut_arg("check", |flag| checks_by_default(flag, "none"))
        .about("Run every lab with its defaults, to check that this machine is ready for a class")
}

/// The result of one lab.
#[derive(Debug, Serialize)]
struct LabResult {
    lab: &'static str,
    correct: bool,
    /// How many variants ran.
    variants: usize,
    /// Those whose result was wrong.
    wrong: Vec<String>,
    /// How many distinct faults the sanitizer found.
    faults: usize,
    /// Why the lab did not run to its end.
    error: Option<String>,
    seconds: f64,
    /// The variant with the greatest speedup within its group, on a GPU.
    fastest: Option<Fastest>,
    /// What the numbers show.
    conclusions: Vec<String>,
}

/// A variant, and how many times as fast it is as the first of its group.
#[derive(Debug, Serialize)]
struct Fastest {
    variant: String,
    speedup: f64,
}

/// Runs the course on a device that took `opening` to open. Returns whether every lab was right.
///
/// # Errors
///
/// [`Error::Request`] before anything runs, [`Error::Output`] after. A lab's own error is in its
/// line.
pub(crate) fn main(
    device: &Device,
    opening: Duration,
    matches: &ArgMatches,
    progress: Progress,
    format: Format,
    out: &mut dyn Write,
) -> Result<bool> {
    let flags =
        Flags::from_arg_matches(matches).map_err(|error| Error::request("flags", one_line(&error.to_string())))?;
    flags.checks.check_simulated(!device.properties().is_gpu())?;
    if let Some(path) = &flags.report {
        output_file::check(path)?;
    }
    let settings = Settings {
        seed: flags.seed,
        time_limit: flags.time_limit,
        checks: flags.checks,
        paged: flags.report.is_some(),
        predicted: PredictFlags::where_shown(device, flags.report.is_some()),
        progress: progress.clone(),
        ..Settings::default()
    };
    let mut results = vec![opened(device, opening)];
    let mut parts = Vec::new();
    for lab in labs::ALL {
        let checks = if lab.races { settings.checks.without_races() } else { settings.checks };
        let settings = Settings { checks, ..settings.clone() };
        let (result, report) = result_of(lab, device, &settings);
        parts.extend(report.filter(|_| settings.paged).map(|report| page::part(lab, &result, &report)));
        results.push(result);
    }
    // Remove the bar before the results are written.
    device.watch(None);
    drop((settings, progress));
    let right = results.iter().filter(|result| result.correct).count();
    // Only a GPU has times to compare.
    let columns = if device.properties().is_gpu() { TITLES.len() } else { TITLES.len() - 1 };
    let rows: Vec<_> = results.iter().map(|result| row(result)[..columns].to_vec()).collect();
    let json = serde_json::json!({
        "device": device.properties(),
        "seed": flags.seed,
        "correct": right == results.len(),
        "labs": results,
    });
    let the = if device.properties().is_gpu() { "" } else { "the " };
    let verdict = format!("{right} of {} labs are right on {the}{}.", results.len(), device.properties().name);
    if let Some(path) = &flags.report {
        page::write(&verdict, (&TITLES[..columns], &rows), &parts, path)?;
    }
    listing::write(format, &TITLES[..columns], rows, json, out)?;
    if format == Format::Table {
        writeln!(out, "\n{}", printable(&verdict))?;
    }
    Ok(right == results.len())
}

/// The line of `devices`, the first lab: the device works and accepts the kernels.
fn opened(device: &Device, opening: Duration) -> LabResult {
    let device = device.properties();
    let multiprocessors = device.multiprocessors.map(|count| format!(", {count} multiprocessors"));
    LabResult {
        lab: "devices",
        correct: true,
        variants: 1,
        wrong: Vec::new(),
        faults: 0,
        error: None,
        seconds: opening.as_secs_f64(),
        fastest: None,
        conclusions: vec![format!(
            "{} has compute capability {}{} and {} of memory.",
            device.name,
            device.compute_capability,
            multiprocessors.unwrap_or_default(),
            units::bytes(device.memory_bytes)
        )],
    }
}

/// Runs a lab at its defaults.
fn result_of(lab: &Entry, device: &Device, settings: &Settings) -> (LabResult, Option<LabReport>) {
    let start = Instant::now();
    let ran = (lab.run_at_defaults)(device, settings);
    let seconds = start.elapsed().as_secs_f64();
    let (report, error) = match ran {
        Ok(report) => {
            let error = report.stopped.as_ref().map(Error::to_string);
            (Some(report), error)
        }
        Err(error) => (None, Some(error.to_string())),
    };
    let of_report = report.as_ref();
    let faults = of_report.map_or(0, |report| report.findings().list.len());
    let result = LabResult {
        lab: lab.name,
        correct: error.is_none() && faults == 0 && of_report.is_some_and(LabReport::correct),
        variants: of_report.map_or(0, |report| report.variants.len()),
        wrong: of_report.map(wrong).unwrap_or_default(),
        faults,
        error,
        seconds,
        fastest: of_report.and_then(fastest),
        conclusions: of_report.map(|report| report.conclusions.clone()).unwrap_or_default(),
    };
    (result, report)
}

/// The variants whose result was wrong.
fn wrong(report: &LabReport) -> Vec<String> {
    let is_wrong = |variant: &&crate::report::VariantReport| variant.correct() == Some(false);
    report.variants.iter().filter(is_wrong).map(|variant| variant.name.clone()).collect()
}

/// The variant with the greatest speedup.
fn fastest(report: &LabReport) -> Option<Fastest> {
    let timed = report.variants.iter().filter_map(|variant| Some((variant, variant.speedup?)));
    let (variant, speedup) = timed.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(Fastest { variant: variant.name.clone(), speedup })
}

/// The columns.
const TITLES: [&str; 5] = ["lab", "variants", "result", "time", "greatest speedup"];

/// A lab's line.
fn row(result: &LabResult) -> [String; TITLES.len()] {
    let outcome = match (&result.error, result.wrong.as_slice(), result.faults) {
        (Some(error), ..) => format!("error: {}", printable(error)),
        (None, [], 0) => "right".to_owned(),
        (None, [], 1) => "1 fault".to_owned(),
        (None, [], faults) => format!("{faults} faults"),
        (None, wrong, _) => format!("WRONG: {}", wrong.join(", ")),
    };
    let fastest = result.fastest.as_ref();
    let speedup = fastest.map(|fastest| format!("{}x, {}", units::three_digits(fastest.speedup), fastest.variant));
    [
        result.lab.to_owned(),
        result.variants.to_string(),
        outcome,
        units::milliseconds(result.seconds * 1e3),
        speedup.unwrap_or_else(|| "-".to_owned()),
    ]
}
