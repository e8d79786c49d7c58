//! `cargo xtask time`: compares the simulator's predicted times with times on a GPU, in
//! `docs/TIME.md` and `measurements/time.md`.
//!
//! ```text
//! mod        runs the labs with --predict on a model of the H200      ->  measurements/time.json
//! held_out   runs the kernels of measurements/kernels on models of H200 and H100 ->  measurements/time.json
//! history    runs what has published times, on models of its GPUs     ->  measurements/time.json
//! limits     runs some of the labs on a model of the H100             ->  measurements/time.json
//! data       what is kept of predictions and measurements
//! document   compares them with measurements/h200.json; held_out with
//!            measurements/kernels/h200.json and h100.json, history with
//!            measurements/kernels/history.toml; errors is their sums             ->  both documents
//! ```
//!
//! It needs no GPU. With `--run` it predicts again; without, it rewrites the document from the last
//! predictions.

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

use crate::documents::{self, Document};
use crate::program::{Error, file, lab, succeed, timed};
use crate::records;
use crate::workspace;
use data::{Measurements, Predictions};
use history::History;
use limits::Profiles;

const DATA: &str = "measurements/time.json";
const MEASURED: &str = "measurements/h200.json";
const DOCUMENT: &str = "docs/TIME.md";
const GROUPS: &str = "measurements/time.md";

/// Labs that run more rows on a GPU than on the simulator, and the flags for as many.
const ROWS: [(&str, &str); 3] =
    [("launch", "--block 64,256,1024"), ("pipeline", "--blocks 1,2,4,8"), ("spill", "--all")];

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
    let data = root.join(DATA);
    let mut predictions: Predictions = match options.run && !data.exists() {
        true => Predictions::default(),
        false => records::read(&data)?,
    };
    if options.run {
        predict(options, &root, &mut predictions)?;
    }
    documents::finish(&root, &made(&root, &predictions)?, options.check, "time")
}

/// The documents as they should be.
fn made(root: &Path, predictions: &Predictions) -> Result<[Document; 2], Error> {
    let measured: Measurements = records::read(&root.join(MEASURED))?;
    let held_out = held_out::Measured::read(root)?;
    let history = History::read(root)?;
    let (text, groups) = document::of(predictions, &measured, &held_out, &history, &Profiles::read(root)?);
    Ok([Document { name: DOCUMENT, text }, Document { name: GROUPS, text: groups }])
}

/// Makes predictions: of the labs, and of the kernels outside them.
fn predict(options: &Options, root: &Path, predictions: &mut Predictions) -> Result<(), Error> {
    let host = fs::canonicalize(&options.host).map_err(|problem| file(&options.host, problem))?;
    let wanted = |name: &str| options.only.as_deref().is_none_or(|only| only == name);
    let report = |arguments: &str, model: &str| data::report(&host, root, arguments, model);
    let save = |predictions: &Predictions| records::save(predictions, 3, &root.join(DATA));
    let date = succeed(Command::new("date").arg("+%F"))?.trim().to_owned();
    let measured: Measurements = records::read(&root.join(MEASURED))?;
    for arguments in measured.runs.keys().filter(|arguments| wanted(lab(arguments))) {
        let flags = ROWS.iter().find(|(run, _)| run == arguments).map_or("", |&(_, flags)| flags);
        let command = format!("{arguments} {flags}");
        let rows = timed(&format!("host {}", command.trim_end()), || report(&command, "hopper"))?;
        predictions.runs.insert(arguments.clone(), data::rows(&rows).collect());
        predictions.date.clone_from(&date);
        save(predictions)?;
    }
    if wanted(history::NAME) {
        predictions.history = History::read(root)?.predict(&host, root)?;
        save(predictions)?;
    }
    for arguments in Profiles::read(root)?.runs().filter(|arguments| wanted(lab(arguments))) {
        let rows = report(arguments, limits::MODEL)?;
        predictions.profiled.insert(arguments.to_owned(), data::rows(&rows).collect());
        save(predictions)?;
    }
    for model in held_out::MODELS.into_iter().filter(|_| wanted(held_out::NAME)) {
        let what = format!("measurements/kernels on {model}");
        let rows = timed(&what, || held_out::predict(&host, root, model))?;
        predictions.held_out.insert(model.to_owned(), rows);
        predictions.date.clone_from(&date);
        save(predictions)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_are_what_the_numbers_make() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let predictions = records::read(&root.join(DATA)).unwrap();
        documents::finish(root, &made(root, &predictions).unwrap(), true, "time").unwrap();
    }

    #[test]
    fn rows_without_a_time_say_why() {
        let row = data::Row::of("a".into(), &serde_json::json!({"time_ms": null, "not_predicted": "clusters"}));
        assert_eq!((row.time_ms, row.not_predicted.as_deref()), (None, Some("clusters")));
    }
}
