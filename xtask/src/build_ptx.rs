//! `cargo xtask build-ptx`: compiles a crate of kernels to PTX with `cuda_builder`, or checks that
//! its PTX matches its sources. `main` calls it; it writes the crate's folder of PTX and nothing
//! else.

use std::fs;
use std::path::{Path, PathBuf};

use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch, SourceDigest, digest_of_crate};

use crate::exit_code::{FAILED, WRONG_ARGUMENTS};
use crate::package;
use crate::setup;
use crate::shell;
use crate::workspace::{self, NotInWorkspace};

/// Options of `build-ptx`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// The folder of the crate of kernels to compile, instead of this repository's two. Its PTX is
    /// written to DIR/ptx.
    #[arg(long = "crate", value_name = "DIR")]
    krate: Option<PathBuf>,

    /// The architecture to compile for, such as sm_90; may be repeated. PTX for one architecture
    /// also runs on later ones [default: the architectures of the existing PTX files, or sm_75]
    #[arg(long = "arch", value_name = "ARCH")]
    architectures: Vec<NvvmArch>,

    /// Compile nothing; fail if a PTX file does not match its sources. Needs no compiler for GPU
    /// kernels.
    #[arg(long, conflicts_with_all = ["emit_llvm", "out"])]
    check: bool,

    /// Keep the LLVM IR of each step in this folder.
    #[arg(long, value_name = "DIR")]
    emit_llvm: Option<PathBuf>,

    /// Write the PTX files to this folder instead of the crate's folder ptx.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Why `build-ptx` failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Workspace(#[from] NotInWorkspace),
    #[error(transparent)]
    Package(#[from] package::Error),
    #[error("{}", setup::with_advice(.0))]
    Builder(#[from] CudaBuilderError),
    #[error("{file} is stale: {reason}; rebuild it with `{command}`")]
    Stale { file: String, reason: &'static str, command: String },
}

impl Error {
    /// The program's exit code for this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Package(_) => WRONG_ARGUMENTS,
            _ => FAILED,
        }
    }
}

/// This repository's crates of kernels: the folder and the library of each.
const OWN: [(&str, &str); 2] = [("kernels", "kernels"), ("kernels/best", "best_kernels")];

/// A crate of kernels.
struct Kernels {
    folder: PathBuf,
    /// The name of its library, which is the prefix of its PTX files' names.
    library: String,
    /// The folder to which displayed paths are relative.
    root: Option<PathBuf>,
    /// The command-line arguments that name it.
    arguments: String,
}

impl Kernels {
    /// The crate that the user names, or this repository's.
    fn named(folder: Option<&Path>) -> Result<Vec<Self>, Error> {
        Ok(match folder {
            Some(folder) => vec![Kernels {
                folder: folder.to_owned(),
                library: package::library(folder)?,
                root: None,
                arguments: format!(" --crate {}", shell::word(&folder.display().to_string())),
            }],
            None => {
                let root = workspace::root()?;
                let of_root = |(folder, library): (&str, &str)| Kernels {
                    folder: root.join(folder),
                    library: library.to_owned(),
                    root: Some(root.clone()),
                    arguments: String::new(),
                };
                OWN.map(of_root).into()
            }
        })
    }

    /// The architectures of the existing PTX files, or the oldest supported one.
    fn architectures(&self) -> Vec<NvvmArch> {
        let files = fs::read_dir(self.folder.join("ptx")).into_iter().flatten().flatten();
        let found: Vec<_> = files
            .filter_map(|file| {
                let name = file.file_name().into_string().ok()?;
                name.strip_prefix(&self.library)?.strip_prefix('.')?.strip_suffix(".ptx")?.parse().ok()
            })
            .collect();
        if found.is_empty() { vec![NvvmArch::default()] } else { found }
    }

    /// A path for messages: relative to the workspace's root within it, else relative to the crate
    /// as the user named it.
    fn shown(&self, path: &Path) -> String {
        let relative = self.root.as_ref().and_then(|root| path.strip_prefix(root).ok());
        relative.unwrap_or(path).display().to_string()
    }
}

/// Runs the chore.
pub fn run(options: &Options) -> Result<(), Error> {
    Kernels::named(options.krate.as_deref())?.iter().try_for_each(|kernels| compile_or_check(kernels, options))
}

fn compile_or_check(kernels: &Kernels, options: &Options) -> Result<(), Error> {
    let folder = options.out.clone().unwrap_or_else(|| kernels.folder.join("ptx"));
    let mut architectures = match options.architectures.as_slice() {
        [] => kernels.architectures(),
        named => named.to_vec(),
    };
    architectures.sort();
    architectures.dedup();
    for arch in architectures {
        let path = folder.join(format!("{}.{arch}.ptx", kernels.library));
        if options.check {
            check(&kernels.folder, &path).map_err(|reason| match reason {
                Reason::Stale(reason) => Error::Stale {
                    file: kernels.shown(&path),
                    reason,
                    command: format!("cargo xtask build-ptx{} --arch {arch}", kernels.arguments),
                },
                Reason::Builder(error) => error.into(),
            })?;
            continue;
        }
        eprintln!("compiling {} for {arch}", kernels.library);
        let mut builder = CudaBuilder::new(&kernels.folder).arch(arch).copy_to(&path);
        builder = builder.remade_with("cargo xtask build-ptx");
        if let Some(folder) = &options.emit_llvm {
            builder = builder.emit_llvm_to(folder);
        }
        builder.build()?;
        println!("{}", kernels.shown(&path));
    }
    Ok(())
}

/// Why `--check` fails.
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
