//! `cargo xtask results`: writes the labs' times on a GPU to `docs/RESULTS.md`.
//!
//! ```text
//! plan       which commands, and the lab sheet's own numbers
//! measure    runs them on a GPU, ours and nvcc's kernels in turn      ->  docs/results/h200.json
//! document   makes the tables                                         ->  docs/RESULTS.md
//! ```
//!
//! With `--measure` it runs the program on this machine's GPU and saves the reports; without, it rewrites the document from the
//! saved reports. So a sentence can be changed without a GPU, and no number is written by hand.

mod document;
mod measure;
mod plan;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::program::{Failed, Machine, MeasureOptions};
use crate::workspace::{self, NotInWorkspace};

/// Options of `results`.
#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    run: MeasureOptions,
    /// The CUDA toolkit's compiler, for the comparison with its kernels.
    #[arg(long, value_name = "FILE", default_value = "/usr/local/cuda/bin/nvcc")]
    nvcc: PathBuf,
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

/// All measurements.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Results {
    /// The machine, the tools and the date.
    machine: Machine,
    /// The result of each command of [`plan`], by its arguments.
    runs: BTreeMap<String, Run>,
    /// Ours beside nvcc's kernels, by the arguments of the command.
    twins: BTreeMap<String, Vec<Twin>>,
}

/// The result of one command.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Run {
    /// The bandwidth of the device's own copy, in GB/s.
    copy_gbps: Option<f64>,
    conclusions: Vec<String>,
    variants: Vec<Variant>,
}

/// One variant of a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Variant {
    name: String,
    /// The cold time, from which the rates follow.
    time_ms: f64,
    /// The warm time, if the level-2 cache helps.
    #[serde(default)]
    warm_time_ms: Option<f64>,
    spread_percent: f64,
    gbps: Option<f64>,
    percent_of_copy: Option<f64>,
    /// Percent of the peak of memory or arithmetic, whichever is closer.
    #[serde(default)]
    percent_of_limit: Option<f64>,
    gflops: Option<f64>,
    speedup: Option<f64>,
    /// The occupancy: percent of the warps that a multiprocessor can hold.
    #[serde(default)]
    occupancy: Option<f64>,
    /// Bytes that the threads of a multiprocessor have in flight, in labs about that.
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
        Err(problem) if !options.run.measure => return Err(file(&data, &problem)),
        Err(_) => Results::default(),
    };
    if options.run.measure {
        fs::create_dir_all(root.join("docs/results")).map_err(|problem| file(&data, &problem))?;
        measure::all(options, &root, &mut results, &data)?;
    }
    let text = document::of(&results);
    if options.run.check {
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
