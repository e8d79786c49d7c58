//! `cargo xtask results`: the labs' results on a GPU, as `docs/RESULTS.md`.
//!
//! ```text
//! plan       which commands, and the lab sheet's own numbers
//! measure    runs them on a GPU, ours and nvcc's kernels in turn      ->  docs/results/h200.json
//! document   makes the tables                                         ->  docs/RESULTS.md
//! ```
//!
//! With `--measure` it runs the program on this machine's GPU and keeps what it printed; without, it rewrites the document from
//! what was kept. So a sentence can be changed without a GPU, and no number is written by hand.

mod document;
mod measure;
mod plan;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::program::{Failed, Machine};
use crate::workspace::{self, NotInWorkspace};

/// Options of `results`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Run the labs on this machine's GPU first; otherwise the document is written from the last measurements.
    #[arg(long)]
    measure: bool,
    /// Write nothing; fail if the document does not match the measurements.
    #[arg(long, conflicts_with = "measure")]
    check: bool,
    /// The program, built with `cargo build --release -p host`.
    #[arg(long, value_name = "FILE", default_value = "target/release/host")]
    host: PathBuf,
    /// The CUDA toolkit's compiler, for the comparison with its kernels.
    #[arg(long, value_name = "FILE", default_value = "/usr/local/cuda/bin/nvcc")]
    nvcc: PathBuf,
    /// Measure only labs with this name, and keep the other numbers.
    #[arg(long, value_name = "LAB", requires = "measure")]
    only: Option<String>,
    /// How many times our kernels and nvcc's are timed in turn.
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    rounds: usize,
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
    #[error("docs/RESULTS.md does not match docs/results/h200.json: run `cargo xtask results`")]
    Stale,
}

/// Everything that was measured.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Results {
    /// The machine, the tools and the date.
    machine: Machine,
    /// What each command of [`plan`] found, by its arguments.
    runs: BTreeMap<String, Run>,
    /// Ours beside nvcc's kernels, by the arguments of the command.
    twins: BTreeMap<String, Vec<Twin>>,
}

/// What one command found.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Run {
    /// What the device's own copy reached, in GB/s.
    copy_gbps: Option<f64>,
    conclusions: Vec<String>,
    variants: Vec<Variant>,
}

/// One variant of a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Variant {
    name: String,
    /// Rates are made of this one.
    time_ms: f64,
    /// With what the launch before left in the level-2 cache, where that is of use.
    #[serde(default)]
    warm_time_ms: Option<f64>,
    spread_percent: f64,
    gbps: Option<f64>,
    percent_of_copy: Option<f64>,
    /// Percent of what the device's memory or its arithmetic allows, whichever is closer.
    #[serde(default)]
    percent_of_limit: Option<f64>,
    gflops: Option<f64>,
    speedup: Option<f64>,
    /// Percent of a multiprocessor's warps that can be there at once.
    #[serde(default)]
    occupancy: Option<f64>,
    /// Bytes that the threads of a multiprocessor ask for at once, where the lab is about that.
    #[serde(default)]
    bytes_in_flight: Option<f64>,
}

/// One variant, timed with our kernels and with nvcc's.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Twin {
    variant: String,
    kernel: String,
    /// The medians of all rounds, in milliseconds.
    rust_ms: Vec<f64>,
    nvcc_ms: Vec<f64>,
}

/// Measures, and writes the document.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let (data, document) = (root.join("docs/results/h200.json"), root.join("docs/RESULTS.md"));
    let mut results: Results = match fs::read_to_string(&data) {
        Ok(text) => serde_json::from_str(&text).map_err(|problem| file(&data, &problem))?,
        Err(problem) if !options.measure => return Err(file(&data, &problem)),
        Err(_) => Results::default(),
    };
    if options.measure {
        fs::create_dir_all(root.join("docs/results")).map_err(|problem| file(&data, &problem))?;
        measure::all(options, &root, &mut results, &data)?;
    }
    let text = document::of(&results);
    if options.check {
        let current = fs::read_to_string(&document).map_err(|problem| file(&document, &problem))?;
        return if current == text { Ok(()) } else { Err(Error::Stale) };
    }
    fs::write(&document, text).map_err(|problem| file(&document, &problem))?;
    println!("{}", document.display());
    Ok(())
}

impl Results {
    /// Writes them to a file.
    fn save(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(self).map_err(|problem| file(path, &problem))?;
        fs::write(path, text + "\n").map_err(|problem| file(path, &problem))
    }
}

fn file(path: &Path, problem: &dyn std::fmt::Display) -> Error {
    Error::File { path: path.to_owned(), problem: problem.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_what_the_numbers_make() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let results = serde_json::from_str(&fs::read_to_string(root.join("docs/results/h200.json")).unwrap()).unwrap();
        let written = fs::read_to_string(root.join("docs/RESULTS.md")).unwrap();
        assert_eq!(document::of(&results), written, "docs/RESULTS.md is stale: run `cargo xtask results`");
    }
}
