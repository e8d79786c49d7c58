//! `cargo xtask build-ptx`: builds the checked-in PTX, or checks that it matches its sources.

use std::fs;
use std::path::{Path, PathBuf};

use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch, SourceDigest, digest_of_crate};

use crate::workspace::{self, NotInWorkspace};

/// Options of `build-ptx`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The architecture to compile for; may be repeated. PTX for one architecture runs on every later one.
    #[arg(long = "arch", value_name = "ARCH", default_value = "sm_75")]
    architectures: Vec<NvvmArch>,

    /// Compile nothing; fail if a PTX file is older than its sources. Needs no compiler for GPU kernels.
    #[arg(long, conflicts_with_all = ["emit_llvm", "out"])]
    check: bool,

    /// Keep the LLVM IR of each step in this folder.
    #[arg(long, value_name = "DIR")]
    emit_llvm: Option<PathBuf>,

    /// Write the PTX files to this folder instead of kernels/ptx.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Why `build-ptx` failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Workspace(#[from] NotInWorkspace),
    #[error(transparent)]
    Builder(#[from] CudaBuilderError),
    #[error("{file} is stale: {reason}; rebuild it with `cargo xtask build-ptx --arch {arch}`")]
    Stale { file: String, reason: &'static str, arch: NvvmArch },
}

/// Runs the chore.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let kernels = root.join("kernels");
    let folder = options.out.clone().unwrap_or_else(|| kernels.join("ptx"));
    let mut architectures = options.architectures.clone();
    architectures.sort();
    architectures.dedup();
    for arch in architectures {
        let path = folder.join(format!("kernels.{arch}.ptx"));
        // As a person in the workspace would write it.
        let shown = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        if options.check {
            check(&kernels, &path).map_err(|reason| match reason {
                Reason::Stale(reason) => Error::Stale { file: shown, reason, arch },
                Reason::Builder(error) => error.into(),
            })?;
            continue;
        }
        eprintln!("compiling the kernels for {arch}");
        let mut builder = CudaBuilder::new(&kernels).arch(arch).copy_to(&path);
        if let Some(folder) = &options.emit_llvm {
            builder = builder.emit_llvm_to(folder);
        }
        builder.build()?;
        println!("{shown}");
    }
    Ok(())
}

/// Why a check fails.
enum Reason {
    Stale(&'static str),
    Builder(CudaBuilderError),
}

/// Checks that the PTX file at `path` was made from the current sources.
fn check(kernels: &Path, path: &Path) -> Result<(), Reason> {
    let text = fs::read_to_string(path).map_err(|_| Reason::Stale("it is missing or not text"))?;
    let made_of = SourceDigest::in_ptx(&text).ok_or(Reason::Stale("it has no digest of its sources"))?;
    if made_of == digest_of_crate(kernels).map_err(Reason::Builder)? {
        Ok(())
    } else {
        Err(Reason::Stale("the sources of the kernels have changed since it was made"))
    }
}
