//! Options of `cargo xtask results`, and why it may fail.

use std::path::{Path, PathBuf};

use crate::program::{Failed, MeasureOptions};
use crate::workspace::NotInWorkspace;

/// Options of `results`.
#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub(super) run: MeasureOptions,
    /// The CUDA toolkit's compiler, for the comparison with its kernels.
    #[arg(long, value_name = "FILE", default_value = "/usr/local/cuda/bin/nvcc")]
    pub(super) nvcc: PathBuf,
    /// How many times our kernels and nvcc's are timed in turn.
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    pub(super) rounds: usize,
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

/// An error of a file.
pub(super) fn file(path: &Path, problem: &dyn std::fmt::Display) -> Error {
    Error::File { path: path.to_owned(), problem: problem.to_string() }
}
