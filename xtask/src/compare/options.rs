//! Options of `cargo xtask compare`.

use std::path::PathBuf;

use crate::program::MeasureOptions;

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
    /// Run each lab in this many processes, one after another; the middle time of each row counts.
    #[arg(long, value_name = "COUNT", default_value = "3", value_parser = clap::value_parser!(u32).range(1..=99))]
    pub(super) processes: u32,
}
