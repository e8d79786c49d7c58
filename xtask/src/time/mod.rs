//! `cargo xtask time`: compares the simulator's predicted times with times on a GPU, in `docs/TIME.md`.
//!
//! ```text
//! mod        runs the labs with --predict on a model of the H200      ->  docs/results/time.json
//! held_out   runs the kernels of docs/time on models of H200 and H100 ->  docs/results/time.json
//! document   compares them with docs/results/h200.json; held_out with
//!            docs/time/h200.json and h100.json; errors is their sums  ->  docs/TIME.md
//! ```
//!
//! It needs no GPU. With `--run` it predicts again; without, it rewrites the document from the last predictions.

mod document;
mod errors;
mod held_out;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::program::{Error, Failed, file, list, succeed, text};
use crate::workspace;

const DATA: &str = "docs/results/time.json";
const MEASURED: &str = "docs/results/h200.json";
const DOCUMENT: &str = "docs/TIME.md";

/// Options of `time`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Predict the labs' times first; otherwise the document is written from the last predictions.
    #[arg(long)]
    run: bool,
    /// Write nothing; fail if the document does not match the predictions and the measurements.
    #[arg(long, conflicts_with = "run")]
    check: bool,
    /// The program, built with `cargo build --release -p host`.
    #[arg(long, value_name = "FILE", default_value = "target/release/host")]
    host: PathBuf,
    /// Predict only this lab, or only the kernels outside the labs (held-out), and keep the other numbers.
    #[arg(long, value_name = "LAB", requires = "run")]
    only: Option<String>,
}

/// All predictions, by the arguments of the command.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Predictions {
    /// When the last of them was made.
    date: String,
    runs: BTreeMap<String, Vec<Row>>,
    /// Those of the kernels outside the labs, by model, in the order of their manifest.
    #[serde(default)]
    held_out: BTreeMap<String, Vec<Row>>,
}

/// A row's predicted time.
#[derive(Debug, Deserialize, Serialize)]
struct Row {
    name: String,
    /// `None`: not predicted.
    time_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warm_time_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limiter: Option<String>,
    /// Why not, if the program says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    not_predicted: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    occupancy_percent: Option<f64>,
}

/// The measurements, as far as they are compared.
#[derive(Debug, Deserialize)]
struct Measurements {
    runs: BTreeMap<String, MeasuredRun>,
}

#[derive(Debug, Deserialize)]
struct MeasuredRun {
    variants: Vec<MeasuredRow>,
}

#[derive(Debug, Deserialize)]
struct MeasuredRow {
    name: String,
    time_ms: f64,
    occupancy: Option<f64>,
}

/// Predicts, and writes the document.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let (data, document) = (root.join(DATA), root.join(DOCUMENT));
    let measured: Measurements = read(&root.join(MEASURED))?;
    let mut predictions: Predictions = match options.run && !data.exists() {
        true => Predictions::default(),
        false => read(&data)?,
    };
    if options.run {
        predict(options, &measured, &mut predictions, &data)?;
    }
    let text = document::of(&predictions, &measured, &held_out::Measured::read(&root)?);
    if options.check {
        let current = fs::read_to_string(&document).map_err(|problem| file(&document, problem))?;
        return match current == text {
            true => Ok(()),
            false => Err(Error::Stale { document: DOCUMENT, chore: "time" }),
        };
    }
    fs::write(&document, text).map_err(|problem| file(&document, problem))?;
    println!("{}", document.display());
    Ok(())
}

fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, Error> {
    let text = fs::read_to_string(path).map_err(|problem| file(path, problem))?;
    serde_json::from_str(&text).map_err(|problem| file(path, problem))
}

/// Makes predictions: of the labs, and of the kernels outside them.
fn predict(
    options: &Options,
    measured: &Measurements,
    predictions: &mut Predictions,
    data: &Path,
) -> Result<(), Error> {
    let host = fs::canonicalize(&options.host).map_err(|problem| file(&options.host, problem))?;
    let only = options.only.as_deref();
    let date = succeed(Command::new("date").arg("+%F"))?.trim().to_owned();
    let lab = |arguments: &str| arguments.split(' ').next().unwrap_or_default().to_owned();
    for arguments in measured.runs.keys().filter(|arguments| only.is_none_or(|only| only == lab(arguments))) {
        let begin = Instant::now();
        let mut command = Command::new(&host);
        command.args(arguments.split(' ')).args(["--device", "sim:hopper", "--predict", "--format", "json"]);
        let report = json(&mut command)?;
        let rows = list(&report["variants"]).iter();
        let rows = rows.map(|variant| Row::of(text(&variant["name"]), &variant["predicted"])).collect();
        predictions.runs.insert(arguments.clone(), rows);
        predictions.date.clone_from(&date);
        save(predictions, data)?;
        println!("host {arguments}: {:.1} s", begin.elapsed().as_secs_f64());
    }
    if only.is_none_or(|only| only == held_out::NAME) {
        let root = workspace::root()?;
        for model in held_out::MODELS {
            let begin = Instant::now();
            predictions.held_out.insert(model.to_owned(), held_out::predict(&host, &root, model)?);
            predictions.date.clone_from(&date);
            save(predictions, data)?;
            println!("docs/time on {model}: {:.1} s", begin.elapsed().as_secs_f64());
        }
    }
    Ok(())
}

fn save(predictions: &Predictions, data: &Path) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(predictions).map_err(|problem| file(data, problem))?;
    fs::write(data, text + "\n").map_err(|problem| file(data, problem))
}

/// What a command prints as JSON.
fn json(command: &mut Command) -> Result<Value, Error> {
    let printed = succeed(command)?;
    Ok(serde_json::from_str(&printed).map_err(|problem| Failed::of(command, problem))?)
}

impl Row {
    /// What to keep of a report's `predicted`.
    fn of(name: String, predicted: &Value) -> Self {
        Self {
            name,
            time_ms: predicted["time_ms"].as_f64(),
            warm_time_ms: None,
            limiter: predicted["limiter"].as_str().map(str::to_owned),
            not_predicted: predicted["not_predicted"].as_str().map(str::to_owned),
            occupancy_percent: predicted["occupancy_percent"].as_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_what_the_numbers_make() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let (predictions, measured) = (read(&root.join(DATA)).unwrap(), read(&root.join(MEASURED)).unwrap());
        let held_out = held_out::Measured::read(root).unwrap();
        let written = fs::read_to_string(root.join(DOCUMENT)).unwrap();
        let text = document::of(&predictions, &measured, &held_out);
        assert_eq!(text, written, "docs/TIME.md is stale: run `cargo xtask time`");
    }

    #[test]
    fn rows_without_a_time_say_why() {
        let row = Row::of("a".into(), &serde_json::json!({"time_ms": null, "not_predicted": "clusters"}));
        assert_eq!((row.time_ms, row.not_predicted.as_deref()), (None, Some("clusters")));
    }
}
