//! Options of `cargo xtask results`.

use std::path::PathBuf;

use crate::program::MeasureOptions;

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
