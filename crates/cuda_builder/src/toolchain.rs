//! Finds the device compiler: a rustc with the sources of `core`, and `opt` and `llc` of the same
//! LLVM.
//!
//! It tries, in this order, the compiler that the caller names, the active rustup toolchain, the
//! other installed rustup toolchains (newest name last), and Debian's `/usr/bin/rustc` (packages
//! `rustc-web`, `rust-web-src`, `llvm-NN`).

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::CudaBuilderError;

/// The commands that install a compiler.
pub(crate) const INSTALL: &str =
    "rustup component add rust-src llvm-tools; or on Debian: apt-get install rustc-web rust-web-src llvm-22";

/// The oldest LLVM that accepts the rewrite's textual form of launch bounds.
const OLDEST_LLVM: u32 = 21;

/// The environment variable that names a rustc.
pub const RUSTC_VARIABLE: &str = "CUDA_BUILDER_RUSTC";

/// The environment variable that names a folder with `opt` and `llc`.
pub const LLVM_VARIABLE: &str = "CUDA_BUILDER_LLVM_BIN";

/// The places to search. [`Search::from_environment`] returns this machine's.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// A rustc that the caller names, and where it was named.
    pub rustc: Option<(PathBuf, &'static str)>,
    /// A folder with `opt` and `llc` that the caller names, and where it was named.
    pub llvm_bin: Option<(PathBuf, &'static str)>,
    /// The root folder of the active rustup toolchain.
    pub active_toolchain: Option<PathBuf>,
    /// The folder whose subfolders are rustup's toolchains.
    pub toolchains: Option<PathBuf>,
    /// The folder in which Debian's packages are installed: `/usr`.
    pub system: Option<PathBuf>,
    /// The cargo to use with a rustc without one beside it.
    pub cargo: Option<PathBuf>,
}

impl Search {
    /// The places given by this machine's environment and folders.
    pub fn from_environment() -> Self {
        let named = |variable: &'static str| {
            env::var_os(variable).filter(|value| !value.is_empty()).map(|value| (PathBuf::from(value), variable))
        };
        let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).map(PathBuf::from);
        let rustup = env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(|| home.map(|home| home.join(".rustup")));
        Search {
            rustc: named(RUSTC_VARIABLE),
            llvm_bin: named(LLVM_VARIABLE),
            active_toolchain: ask("rustc", &["--print", "sysroot"]).map(|sysroot| PathBuf::from(sysroot.trim())),
            toolchains: rustup.map(|rustup| rustup.join("toolchains")),
            system: Some(PathBuf::from("/usr")),
            cargo: Some(env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)),
        }
    }

    /// Finds a compiler.
    ///
    /// # Errors
    ///
    /// [`CudaBuilderError::NamedCompiler`] and [`CudaBuilderError::LlvmVersion`] if the caller's
    /// compiler cannot be used; [`CudaBuilderError::NoCompiler`], with what each place lacks, if no
    /// compiler is found.
    pub fn find(&self) -> Result<DeviceCompiler, CudaBuilderError> {
        if let Some((rustc, named_by)) = &self.rustc {
            return self.examine(rustc, Origin::Named).map_err(|lack| lack.of_named(rustc, named_by));
        }
        let mut reasons = Vec::new();
        for (rustc, origin) in self.candidates() {
            match self.examine(&rustc, origin) {
                Ok(compiler) => return Ok(compiler),
                Err(Lack::Unusable(reason)) => reasons.push(format!("{}: {reason}", rustc.display())),
                Err(lack @ Lack::WrongLlvm { .. }) if self.llvm_bin.is_some() => {
                    return Err(lack.of_named(&rustc, LLVM_VARIABLE));
                }
                Err(Lack::WrongLlvm { tools, found, needed }) => {
                    reasons.push(format!(
                        "{}: needs LLVM {needed}, and {} is {found}",
                        rustc.display(),
                        tools.display()
                    ));
                }
            }
        }
        if reasons.is_empty() {
            reasons.push("there is no rustc".to_owned());
        }
        Err(CudaBuilderError::NoCompiler { reasons })
    }

    /// Every installed rustc, in order.
    fn candidates(&self) -> Vec<(PathBuf, Origin)> {
        let system = self.system.as_ref().map(|system| (system.join("bin/rustc"), Origin::Debian));
        let mut found = Vec::new();
        if let Some(root) = self.active_toolchain.as_ref().filter(|root| Some(*root) != self.system.as_ref()) {
            found.push((root.join("bin/rustc"), Origin::ActiveToolchain));
        }
        for root in self.toolchains.iter().flat_map(|folder| subfolders(folder)) {
            found.push((root.join("bin/rustc"), Origin::Toolchain));
        }
        found.extend(system);
        let mut seen = Vec::new();
        found.retain(|(rustc, _)| {
            let real = fs::canonicalize(rustc).ok();
            let keep = real.as_ref().is_some_and(|real| !seen.contains(real));
            seen.extend(real);
            keep
        });
        found
    }

    /// The compiler with this rustc, or why it cannot compile for devices.
    fn examine(&self, rustc: &Path, origin: Origin) -> Result<DeviceCompiler, Lack> {
        let unusable = |reason: &str| Lack::Unusable(reason.to_owned());
        let version = ask(rustc, &["-vV"]).ok_or_else(|| unusable("does not run"))?;
        let field =
            |name: &str| version.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned());
        let release = field("release:").ok_or_else(|| unusable("`-vV` does not report a release"))?;
        let host = field("host:").ok_or_else(|| unusable("`-vV` does not report a host"))?;
        let llvm = field("LLVM version:").ok_or_else(|| unusable("is not built with LLVM"))?;
        if major(&llvm) < Some(OLDEST_LLVM) {
            return Err(Lack::Unusable(format!(
                "is built with LLVM {llvm}, but LLVM {OLDEST_LLVM} or newer is needed"
            )));
        }
        let sysroot = ask(rustc, &["--print", "sysroot"]).ok_or_else(|| unusable("does not report a sysroot"))?;
        let sysroot = PathBuf::from(sysroot.trim());
        let sources = sysroot.join("lib/rustlib/src/rust/library");
        let has_sources = sources.join("core/src/lib.rs").is_file();

        let folders = match (&self.llvm_bin, major(&llvm)) {
            (Some((named, _)), _) => vec![named.clone()],
            (None, Some(major)) => {
                let system = self.system.iter().map(|system| system.join(format!("lib/llvm-{major}/bin")));
                std::iter::once(sysroot.join("lib/rustlib").join(&host).join("bin")).chain(system).collect()
            }
            (None, None) => Vec::new(),
        };
        let tools = folders.into_iter().find(|folder| folder.join("opt").is_file() && folder.join("llc").is_file());
        let tools = match (has_sources, tools) {
            (true, Some(tools)) => tools,
            (false, Some(_)) => return Err(unusable("lacks rust-src")),
            (true, None) => return Err(Lack::Unusable(format!("lacks llvm-tools (opt and llc of LLVM {llvm})"))),
            (false, None) => return Err(unusable("lacks rust-src and llvm-tools")),
        };
        let found = ask(tools.join("opt"), &["--version"]).and_then(|text| llvm_version(&text));
        let found = found.ok_or_else(|| Lack::Unusable(format!("{} does not run", tools.join("opt").display())))?;
        if major(&found) != major(&llvm) {
            return Err(Lack::WrongLlvm { tools, found, needed: llvm });
        }
        let beside = rustc.with_file_name("cargo");
        let cargo =
            if beside.is_file() { beside } else { self.cargo.clone().unwrap_or_else(|| PathBuf::from("cargo")) };
        Ok(DeviceCompiler { rustc: rustc.to_owned(), cargo, tools, release, llvm, sysroot, sources, origin })
    }
}

/// Why a rustc cannot be used.
enum Lack {
    Unusable(String),
    WrongLlvm { tools: PathBuf, found: String, needed: String },
}

impl Lack {
    fn of_named(self, rustc: &Path, named_by: &'static str) -> CudaBuilderError {
        match self {
            Lack::Unusable(reason) => CudaBuilderError::NamedCompiler { path: rustc.to_owned(), named_by, reason },
            Lack::WrongLlvm { tools, found, needed } => {
                CudaBuilderError::LlvmVersion { tools, found, rustc: rustc.to_owned(), needed }
            }
        }
    }
}

/// Where a compiler was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub enum Origin {
    /// The caller named it.
    Named,
    /// It is rustup's active toolchain.
    ActiveToolchain,
    /// It is another toolchain of rustup.
    Toolchain,
    /// It is from Debian's packages.
    Debian,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Named => "named by the caller",
            Origin::ActiveToolchain => "the active rustup toolchain",
            Origin::Toolchain => "an installed rustup toolchain",
            Origin::Debian => "Debian's packages",
        })
    }
}

/// A device compiler.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct DeviceCompiler {
    /// The Rust compiler.
    pub rustc: PathBuf,
    /// The cargo that runs it.
    pub cargo: PathBuf,
    /// The folder of `opt` and `llc`.
    pub tools: PathBuf,
    /// Rust's version: `1.96.0`.
    pub release: String,
    /// LLVM's version in rustc: `22.1.8`.
    pub llvm: String,
    /// The folder that rustc and its libraries are installed in.
    pub sysroot: PathBuf,
    /// The folder of the sources of `core`.
    pub sources: PathBuf,
    /// Where it was found.
    pub origin: Origin,
}

impl DeviceCompiler {
    /// Finds the compiler of this machine: [`Search::from_environment`], then [`Search::find`].
    ///
    /// # Errors
    ///
    /// Those of [`Search::find`].
    pub fn find() -> Result<Self, CudaBuilderError> {
        Search::from_environment().find()
    }

    /// The files and folders that `rustc`, `opt` and `llc` read to run, besides the system's
    /// libraries.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = vec![self.rustc.clone(), self.sysroot.join("bin/rustc"), self.sysroot.join("lib")];
        files.push(self.sources.clone());
        for tool in ["opt", "llc"].map(|name| self.tool(name)) {
            // Debian's are links into another folder.
            let real = fs::canonicalize(&tool).unwrap_or_else(|_| tool.clone());
            let beside = |tool: &Path| tool.parent().and_then(Path::parent).map(|folder| folder.join("lib"));
            files.extend(beside(&real).into_iter().chain(beside(&tool)));
            files.extend([real, tool]);
        }
        files
    }

    /// The path of one of LLVM's programs.
    pub(crate) fn tool(&self, name: &str) -> PathBuf {
        self.tools.join(name)
    }
}

impl fmt::Display for DeviceCompiler {
    /// Its versions: `rustc 1.96.0, LLVM 22.1.8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rustc {}, LLVM {}", self.release, self.llvm)
    }
}

/// The output of a program, if it runs and succeeds.
fn ask(program: impl Into<OsString>, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program.into());
    // Under cargo it names the active toolchain's libraries, with which a copy of that toolchain would
    // take itself for the original.
    let output = command.args(arguments).env_remove("LD_LIBRARY_PATH").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The version in an LLVM tool's output for `--version`.
fn llvm_version(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("LLVM version ")?;
    rest.split_whitespace().next().map(str::to_owned)
}

fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

#[cfg(all(test, unix))]
#[path = "toolchain_tests.rs"]
mod tests;
