//! `cargo xtask compare`: our best kernels beside cuBLAS, CUB and the driver on a GPU, as `docs/PEERS.md`.
//!
//! ```text
//! plan       which kernels, sizes and targets
//! measure    runs `host LAB --peer` for each on a GPU                 ->  docs/results/peers_h200.json
//! document   makes the tables, with the words of peers.toml           ->  docs/PEERS.md
//! ```
//!
//! With `--measure` it compiles `docs/compare/cub.cu`, runs the program on this machine's GPU and keeps what it printed; without,
//! it rewrites the document from what was kept. `docs/results/peers.toml` says what limits the rows that miss their target: it is
//! the only part that is written by hand.

mod document;
mod measure;
mod plan;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::program::{Failed, Machine, MeasureOptions};
use crate::workspace::{self, NotInWorkspace};

/// Options of `compare`.
#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    run: MeasureOptions,
    /// The CUDA toolkit's compiler [default: the one in PATH, else /usr/local/cuda/bin/nvcc].
    #[arg(long, value_name = "FILE")]
    nvcc: Option<PathBuf>,
    /// A library made of docs/compare/cub.cu before, in place of compiling it.
    #[arg(long, value_name = "FILE", conflicts_with = "nvcc")]
    library: Option<PathBuf>,
    /// Seconds for each row, at most.
    #[arg(long, value_name = "SECONDS", default_value = "0.15")]
    time_limit: String,
}

/// Why it failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    NotInWorkspace(#[from] NotInWorkspace),
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: String },
    #[error(transparent)]
    Run(#[from] Failed),
    #[error("there is no nvcc in PATH or /usr/local/cuda/bin: name one with --nvcc, or what it made with --library")]
    NoCompiler,
    #[error("--only {0}: nothing of this lab is compared; choose one of {1}")]
    NoSuchLab(String, String),
    #[error("docs/PEERS.md does not match docs/results: run `cargo xtask compare`")]
    Stale,
}

/// Everything that was measured.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Results {
    /// The machine, the tools and the date.
    machine: Machine,
    /// What each run found, by its arguments.
    runs: BTreeMap<String, Run>,
}

/// What one run found: its rows by their names.
type Run = BTreeMap<String, Row>;

/// One row of a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Row {
    /// The library with its version, if it is not ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    library: Option<String>,
    /// The median time in milliseconds, with nothing of use in the level-2 cache.
    time_ms: f64,
    /// Half the distance between the quartiles, in percent.
    spread_percent: f64,
    /// The median time back to back, where the cache holds the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warm_time_ms: Option<f64>,
    /// Of what the device can do at most, in percent, and what bounds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    percent_of_limit: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<String>,
}

/// What limits the rows that miss their target.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    #[serde(default)]
    limits: Vec<Limit>,
}

/// What limits some rows of a goal.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    /// The goal's title.
    of: String,
    /// The rows, by their first cells, or by their sizes for all rows of a size.
    rows: Vec<String>,
    words: String,
}

/// The files.
struct Files {
    data: PathBuf,
    words: PathBuf,
    document: PathBuf,
}

impl Files {
    fn of(root: &Path) -> Self {
        Self {
            data: root.join("docs/results/peers_h200.json"),
            words: root.join("docs/results/peers.toml"),
            document: root.join("docs/PEERS.md"),
        }
    }

    /// The document as it should be.
    fn written(&self, results: &Results) -> Result<String, Error> {
        let words: Words = match fs::read_to_string(&self.words) {
            Ok(text) => toml::from_str(&text).map_err(|problem| file(&self.words, &one_line(&problem.to_string())))?,
            Err(_) if !self.words.exists() => Words::default(),
            Err(problem) => return Err(file(&self.words, &problem)),
        };
        document::of(results, &words).map_err(|problem| file(&self.words, &problem))
    }
}

/// Measures, and writes the document.
pub fn run(options: &Options) -> Result<(), Error> {
    let files = Files::of(&workspace::root()?);
    let mut results: Results = match fs::read_to_string(&files.data) {
        Ok(text) => serde_json::from_str(&text).map_err(|problem| file(&files.data, &problem))?,
        Err(problem) if !options.run.measure => {
            return Err(file(&files.data, &format!("{problem}; measure with --measure")));
        }
        Err(_) => Results::default(),
    };
    if options.run.measure {
        measure::all(options, &workspace::root()?, &mut results, &files.data)?;
    }
    let text = files.written(&results)?;
    if options.run.check {
        let current = fs::read_to_string(&files.document).map_err(|problem| file(&files.document, &problem))?;
        return if current == text { Ok(()) } else { Err(Error::Stale) };
    }
    fs::write(&files.document, text).map_err(|problem| file(&files.document, &problem))?;
    println!("{}", files.document.display());
    Ok(())
}

fn file(path: &Path, problem: &dyn std::fmt::Display) -> Error {
    Error::File { path: path.to_owned(), problem: problem.to_string() }
}

/// A message of several lines as one.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_what_the_numbers_make() {
        let files = Files::of(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap());
        let Ok(text) = fs::read_to_string(&files.data) else {
            assert!(!files.document.exists(), "docs/PEERS.md has no measurements");
            return;
        };
        let written = fs::read_to_string(&files.document).unwrap();
        let made = files.written(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(made, written, "docs/PEERS.md is stale: run `cargo xtask compare`");
    }
}
