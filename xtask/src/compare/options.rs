//! Options of `cargo xtask compare`, and why it may fail.

use std::path::{Path, PathBuf};

use crate::program::{Failed, MeasureOptions};
use crate::workspace::NotInWorkspace;

/// Options of `compare`.
#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub(super) run: MeasureOptions,
    /// The CUDA toolkit's compiler [default: the one in PATH, else /usr/local/cuda/bin/nvcc].
    #[arg(long, value_name = "FILE")]
    pub(super) nvcc: Option<PathBuf>,
    /// A library made of docs/compare/cub.cu before, in place of compiling it.
    #[arg(long, value_name = "FILE", conflicts_with = "nvcc")]
    pub(super) library: Option<PathBuf>,
    /// Seconds for each row, at most.
    #[arg(long, value_name = "SECONDS", default_value = "0.15")]
    pub(super) time_limit: String,
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

/// An error of a file.
pub(super) fn file(path: &Path, problem: &dyn std::fmt::Display) -> Error {
    Error::File { path: path.to_owned(), problem: problem.to_string() }
}
