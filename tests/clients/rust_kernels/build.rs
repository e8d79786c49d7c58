//! Compiles the kernels to PTX.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    match cuda_builder::CudaBuilder::new("kernels").copy_to(folder.join("kernels.ptx")).build() {
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
