//! The builder's errors, each with what to do about it.

use std::path::PathBuf;

use crate::ir::RewriteError;
use crate::ptx::CheckError;
use crate::uniform::UniformityError;

/// Why a build failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CudaBuilderError {
    /// There is no crate at the path.
    #[error("{path}: there is no crate here (no Cargo.toml): name the folder of a crate of kernels", path = path.display())]
    CratePathDoesntExist {
        /// The path that was given.
        path: PathBuf,
    },
    /// There is no architecture of this name.
    #[error("unknown architecture `{name}`: choose one of {known}", known = known_architectures())]
    UnknownArch {
        /// The name that was given.
        name: String,
    },
    /// The compiler cannot compile for this architecture.
    #[error("{compiler} does not know {arch}: choose an older architecture, or install a newer compiler")]
    UnsupportedArch {
        /// The architecture.
        arch: crate::NvvmArch,
        /// The compiler, as text.
        compiler: String,
    },
    /// No compiler for devices was found.
    #[error("no compiler for GPU kernels was found: {}; to install one, type: {}", reasons.join("; "), crate::toolchain::INSTALL)]
    NoCompiler {
        /// Each place that was searched, and what it lacks.
        reasons: Vec<String>,
    },
    /// The compiler that the caller named cannot be used.
    #[error("{path}: {reason}; correct {named_by}, or remove it to search for a compiler", path = path.display())]
    NamedCompiler {
        /// The path that was named.
        path: PathBuf,
        /// Where it was named: an environment variable or a method.
        named_by: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// `opt` and `llc` are of another LLVM than rustc.
    #[error(
        "{tools} is LLVM {found}, and {rustc} was built with LLVM {needed}: install LLVM {major}, or name a folder \
         with its `opt` and `llc` in {variable}", tools = tools.display(), rustc = rustc.display(),
         variable = crate::toolchain::LLVM_VARIABLE,
         major = needed.split('.').next().unwrap_or(needed)
    )]
    LlvmVersion {
        /// The folder of `opt` and `llc`.
        tools: PathBuf,
        /// Their version.
        found: String,
        /// The compiler.
        rustc: PathBuf,
        /// The version of LLVM in the compiler.
        needed: String,
    },
    /// The kernels do not compile.
    #[error("the kernels of `{package}` do not compile for {arch}; correct this:\n{messages}")]
    BuildFailed {
        /// The crate.
        package: String,
        /// The architecture.
        arch: crate::NvvmArch,
        /// The messages of rustc and cargo.
        messages: String,
    },
    /// The crate has no kernel.
    #[error("`{package}` has no kernel: mark at least one function with `#[kernel]`")]
    NoKernels {
        /// The crate.
        package: String,
    },
    /// The kernels contain something impossible.
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    /// The PTX fails its check.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// Not all threads of a block would go through the same barriers or phases.
    #[error("{}", findings.iter().map(UniformityError::to_string).collect::<Vec<_>>().join("\n"))]
    Uniformity {
        /// What is wrong, in the order of the kernels.
        findings: Vec<UniformityError>,
    },
    /// A tool failed.
    #[error("{tool} failed: {message}; {advice}")]
    Tool {
        /// The program.
        tool: String,
        /// The end of its messages.
        message: String,
        /// What to do.
        advice: &'static str,
    },
    /// A file or folder could not be read or written.
    #[error("{path}: cannot {action}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was attempted.
        action: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
}

impl From<source_digest::Unreadable> for CudaBuilderError {
    fn from(source_digest::Unreadable { path, source }: source_digest::Unreadable) -> Self {
        Self::Io { path, action: "read", source }
    }
}

impl CudaBuilderError {
    /// Whether another compiler would help: a program that can install one says so beside the
    /// error.
    pub fn is_of_the_compiler(&self) -> bool {
        matches!(self, Self::NoCompiler { .. } | Self::LlvmVersion { .. } | Self::UnsupportedArch { .. })
            || matches!(self, Self::Rewrite(RewriteError::UnexpectedForm { .. }))
    }

    /// For `map_err`: what was attempted with which path.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| CudaBuilderError::Io { path, action, source }
    }
}

fn known_architectures() -> String {
    let names: Vec<_> = crate::NvvmArch::ALL.iter().map(|arch| arch.target()).collect();
    names.join(", ")
}
