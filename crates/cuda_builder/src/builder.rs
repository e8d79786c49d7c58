//! The builder and its options. Build scripts call it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::{Deserialize, Serialize};

use crate::NvvmArch;

/// The line information in the PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub enum DebugInfo {
    /// Nothing.
    None,
    /// The Rust file and line of each instruction (`.loc` directives).
    LineTables,
}

/// Runs a program to its end: [`Command::output`], or that in a sandbox.
pub type Runner<'a> = &'a dyn Fn(&mut Command) -> io::Result<Output>;

/// Compiles a crate of kernels to PTX.
///
/// Rust-CUDA's builder has the same methods. Two defaults differ: line information is kept
/// ([`DebugInfo::LineTables`]), and products and sums are not fused implicitly
/// ([`fma_contraction`](Self::fma_contraction)), so that results equal the CPU's bit by bit.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct CudaBuilder {
    pub(crate) path: PathBuf,
    pub(crate) arch: NvvmArch,
    pub(crate) debug: DebugInfo,
    pub(crate) release: bool,
    pub(crate) ftz: bool,
    pub(crate) fast_sqrt: bool,
    pub(crate) fast_div: bool,
    pub(crate) fma_contraction: bool,
    pub(crate) check_barriers: bool,
    pub(crate) build_args: Vec<String>,
    pub(crate) copy_to: Option<PathBuf>,
    pub(crate) final_module_path: Option<PathBuf>,
    pub(crate) llvm_dir: Option<PathBuf>,
    pub(crate) target_dir: Option<PathBuf>,
    pub(crate) rustc: Option<PathBuf>,
    pub(crate) llvm_bin: Option<PathBuf>,
    pub(crate) remade_with: Option<String>,
}

impl CudaBuilder {
    /// A builder for the crate in the folder `path`, with the defaults: [`NvvmArch::Compute75`],
    /// release, lines kept.
    pub fn new(path: impl AsRef<Path>) -> Self {
        CudaBuilder {
            path: path.as_ref().to_owned(),
            arch: NvvmArch::default(),
            debug: DebugInfo::LineTables,
            release: true,
            ftz: false,
            fast_sqrt: false,
            fast_div: false,
            fma_contraction: false,
            check_barriers: true,
            build_args: Vec::new(),
            copy_to: None,
            final_module_path: None,
            llvm_dir: None,
            target_dir: None,
            rustc: None,
            llvm_bin: None,
            remade_with: None,
        }
    }

    /// The oldest architecture on which the PTX is to run.
    #[must_use]
    pub fn arch(mut self, arch: NvvmArch) -> Self {
        self.arch = arch;
        self
    }

    /// The line information in the PTX.
    #[must_use]
    pub fn debug(mut self, debug: DebugInfo) -> Self {
        self.debug = debug;
        self
    }

    /// `false` compiles with overflow checks and debug assertions, which trap. The PTX is optimised
    /// either way, because without that accesses to shared memory would be generic.
    #[must_use]
    pub fn release(mut self, release: bool) -> Self {
        self.release = release;
        self
    }

    /// Whether f32 arithmetic flushes denormal numbers to zero.
    #[must_use]
    pub fn ftz(mut self, ftz: bool) -> Self {
        self.ftz = ftz;
        self
    }

    /// Whether f32 square roots are approximate.
    #[must_use]
    pub fn fast_sqrt(mut self, fast_sqrt: bool) -> Self {
        self.fast_sqrt = fast_sqrt;
        self
    }

    /// Whether f32 divisions are approximate.
    #[must_use]
    pub fn fast_div(mut self, fast_div: bool) -> Self {
        self.fast_div = fast_div;
        self
    }

    /// Whether `a * b + c` may become one fused operation with one rounding. `mul_add` always is.
    #[must_use]
    pub fn fma_contraction(mut self, fma_contraction: bool) -> Self {
        self.fma_contraction = fma_contraction;
        self
    }

    /// Whether barriers are checked: those that not all threads of a block may reach are errors in
    /// safe kernels and warnings in `unsafe` ones. Without the check they are left to the
    /// simulator, which reports the threads that wait. Phases are always checked.
    #[must_use]
    pub fn check_barriers(mut self, check: bool) -> Self {
        self.check_barriers = check;
        self
    }

    /// More arguments for `cargo rustc`, such as `--features x`.
    #[must_use]
    pub fn build_args(mut self, arguments: &[impl AsRef<str>]) -> Self {
        self.build_args.extend(arguments.iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Also writes the PTX to `path`, whole or not at all. [`build`](Self::build) then returns this
    /// path.
    #[must_use]
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.copy_to = Some(path.as_ref().to_owned());
        self
    }

    /// Writes the optimised LLVM IR to `path`.
    #[must_use]
    pub fn final_module_path(mut self, path: impl AsRef<Path>) -> Self {
        self.final_module_path = Some(path.as_ref().to_owned());
        self
    }

    /// Keeps the LLVM IR of each step in the folder `path`: `NAME.ARCH.1-rustc.ll`,
    /// `.2-rewritten.ll` and `.3-optimised.ll`.
    #[must_use]
    pub fn emit_llvm_to(mut self, path: impl AsRef<Path>) -> Self {
        self.llvm_dir = Some(path.as_ref().to_owned());
        self
    }

    /// The folder to build in. The default is `cuda-builder` in the target folder of the crate's
    /// workspace.
    #[must_use]
    pub fn target_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.target_dir = Some(path.as_ref().to_owned());
        self
    }

    /// The command that makes the PTX anew, for the comment at its beginning.
    #[must_use]
    pub fn remade_with(mut self, command: impl Into<String>) -> Self {
        self.remade_with = Some(command.into());
        self
    }

    /// The rustc to use instead of the one that [`toolchain`](crate::toolchain) finds.
    #[must_use]
    pub fn rustc(mut self, path: impl AsRef<Path>) -> Self {
        self.rustc = Some(path.as_ref().to_owned());
        self
    }

    /// The folder of the `opt` and `llc` to use.
    #[must_use]
    pub fn llvm_bin(mut self, path: impl AsRef<Path>) -> Self {
        self.llvm_bin = Some(path.as_ref().to_owned());
        self
    }
}
