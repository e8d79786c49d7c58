//! Compiles the kernels to PTX when their sources have changed. Cargo runs it; it writes only to Cargo's output folder.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use cuda_builder::CudaBuilder;

fn main() -> ExitCode {
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    match CudaBuilder::new("../kernels")
        .copy_to(folder.join("kernels.ptx"))
        .build()
    {
        Ok(ptx) => {
            println!("cargo::rustc-env=KERNELS_PTX={}", ptx.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
