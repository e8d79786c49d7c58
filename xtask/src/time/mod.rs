//! `cargo xtask time`: compares the simulator's predicted times with times on a GPU, in `docs/TIME.md`.
//!
//! ```text
//! mod        runs the labs with --predict on a model of the H200      ->  measurements/time.json
//! held_out   runs the kernels of measurements/kernels on models of H200 and H100 ->  measurements/time.json
//! history    runs what has published times, on models of its GPUs     ->  measurements/time.json
//! limits     runs some of the labs on a model of the H100             ->  measurements/time.json
//! data       what is kept of predictions and measurements
//! document   compares them with measurements/h200.json; held_out with
//!            measurements/kernels/h200.json and h100.json, history with
//!            measurements/kernels/history.toml; errors is their sums             ->  docs/TIME.md
//! ```
//!
//! It needs no GPU. With `--run` it predicts again; without, it rewrites the document from the last predictions.

mod causes;
mod data;
mod document;
mod errors;
mod held_out;
mod history;
mod limits;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::program::{Error, file, list, succeed, text};
use crate::records;
use crate::workspace;
use data::{Measurements, Predictions, Row, json, read};
use history::History;
use limits::Profiles;

const DATA: &str = "measurements/time.json";
const MEASURED: &str = "measurements/h200.json";
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
    /// Predict only this lab, or only the kernels outside the labs (held-out) or the published ones
    /// (history), and keep the other numbers.
    #[arg(long, value_name = "LAB", requires = "run")]
    only: Option<String>,
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
    let (held_out, history, profiles) =
        (held_out::Measured::read(&root)?, History::read(&root)?, Profiles::read(&root)?);
    let text = document::of(&predictions, &measured, &held_out, &history, &profiles);
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

/// Makes predictions: of the labs, and of the kernels outside them.
fn predict(
    options: &Options,
    measured: &Measurements,
    predictions: &mut Predictions,
    data: &Path,
) -> Result<(), Error> {
    let host = fs::canonicalize(&options.host).map_err(|problem| file(&options.host, problem))?;
    let root = workspace::root()?;
    let only = options.only.as_deref();
    let date = succeed(Command::new("date").arg("+%F"))?.trim().to_owned();
    let lab = |arguments: &str| arguments.split(' ').next().unwrap_or_default().to_owned();
    for arguments in measured.runs.keys().filter(|arguments| only.is_none_or(|only| only == lab(arguments))) {
        let begin = Instant::now();
        predictions.runs.insert(arguments.clone(), rows(&host, arguments, "hopper")?);
        predictions.date.clone_from(&date);
        save(predictions, data)?;
        println!("host {arguments}: {:.1} s", begin.elapsed().as_secs_f64());
    }
    if only.is_none_or(|only| only == history::NAME) {
        predictions.history = History::read(&root)?.predict(&host, &root)?;
        save(predictions, data)?;
    }
    for arguments in Profiles::read(&root)?.runs().filter(|arguments| only.is_none_or(|only| only == lab(arguments))) {
        predictions.profiled.insert(arguments.to_owned(), rows(&host, arguments, limits::MODEL)?);
        save(predictions, data)?;
    }
    if only.is_none_or(|only| only == held_out::NAME) {
        for model in held_out::MODELS {
            let begin = Instant::now();
            predictions.held_out.insert(model.to_owned(), held_out::predict(&host, &root, model)?);
            predictions.date.clone_from(&date);
            save(predictions, data)?;
            println!("measurements/kernels on {model}: {:.1} s", begin.elapsed().as_secs_f64());
        }
    }
    Ok(())
}

/// A lab's rows, predicted on a model.
fn rows(host: &Path, arguments: &str, model: &str) -> Result<Vec<Row>, Error> {
    let mut command = Command::new(host);
    command.args(arguments.split(' ')).args(["--device", &format!("sim:{model}"), "--predict", "--format", "json"]);
    let report = json(&mut command)?;
    let rows = list(&report["variants"]).iter();
    Ok(rows.map(|variant| Row::of(text(&variant["name"]), &variant["predicted"])).collect())
}

fn save(predictions: &Predictions, data: &Path) -> Result<(), Error> {
    let text = records::lines(predictions, 3).map_err(|problem| file(data, problem))?;
    fs::write(data, text).map_err(|problem| file(data, problem))
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
        let (history, profiles) = (History::read(root).unwrap(), Profiles::read(root).unwrap());
        let text = document::of(&predictions, &measured, &held_out, &history, &profiles);
        assert_eq!(text, written, "docs/TIME.md is stale: run `cargo xtask time`");
    }

    #[test]
    fn rows_without_a_time_say_why() {
        let row = Row::of("a".into(), &serde_json::json!({"time_ms": null, "not_predicted": "clusters"}));
        assert_eq!((row.time_ms, row.not_predicted.as_deref()), (None, Some("clusters")));
    }
}
