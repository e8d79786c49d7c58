//! The builder: its options, and the steps from Rust to PTX in order. Build scripts and `cargo xtask build-ptx` call it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::toolchain::{DeviceCompiler, Search};
use crate::workspace::Workspace;
use crate::{CudaBuilderError, NvvmArch, SourceDigest, ir, llvm, ptx, rustc};

/// The line information in the PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DebugInfo {
    /// Nothing.
    None,
    /// The Rust file and line of each instruction (`.loc` directives).
    LineTables,
}

/// The digest of the sources of the crate of kernels at `path`, and of all its path dependencies.
///
/// # Errors
///
/// [`CudaBuilderError::CratePathDoesntExist`], [`CudaBuilderError::Tool`] when cargo cannot read the workspace,
/// and [`CudaBuilderError::Io`] when a source cannot be read.
pub fn digest_of_crate(path: impl AsRef<Path>) -> Result<SourceDigest, CudaBuilderError> {
    let workspace = Workspace::of_crate(path.as_ref(), None)?;
    Ok(SourceDigest::of_packages(&workspace.root, &workspace.source_folders)?)
}

/// Compiles a crate of kernels to PTX.
///
/// Rust-CUDA's builder has the same methods. Two defaults differ: line information is kept ([`DebugInfo::LineTables`]), and
/// products and sums are not fused implicitly ([`fma_contraction`](Self::fma_contraction)), so that results equal the
/// CPU's bit by bit.
#[derive(Debug, Clone)]
pub struct CudaBuilder {
    pub(crate) path: PathBuf,
    pub(crate) arch: NvvmArch,
    pub(crate) debug: DebugInfo,
    pub(crate) release: bool,
    pub(crate) ftz: bool,
    pub(crate) fast_sqrt: bool,
    pub(crate) fast_div: bool,
    pub(crate) fma_contraction: bool,
    pub(crate) build_args: Vec<String>,
    copy_to: Option<PathBuf>,
    final_module_path: Option<PathBuf>,
    llvm_dir: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    rustc: Option<PathBuf>,
    llvm_bin: Option<PathBuf>,
}

impl CudaBuilder {
    /// A builder for the crate in the folder `path`, with the defaults: [`NvvmArch::Compute75`], release, lines kept.
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
            build_args: Vec::new(),
            copy_to: None,
            final_module_path: None,
            llvm_dir: None,
            target_dir: None,
            rustc: None,
            llvm_bin: None,
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

    /// `false` compiles with overflow checks and debug assertions, which trap. The PTX is optimised either way,
    /// because without that accesses to shared memory would be generic.
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

    /// More arguments for `cargo rustc`, such as `--features x`.
    #[must_use]
    pub fn build_args(mut self, arguments: &[impl AsRef<str>]) -> Self {
        self.build_args.extend(arguments.iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Also writes the PTX to `path`, whole or not at all. [`build`](Self::build) then returns this path.
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

    /// Keeps the LLVM IR of each step in the folder `path`: `NAME.ARCH.1-rustc.ll`, `.2-rewritten.ll` and
    /// `.3-optimised.ll`.
    #[must_use]
    pub fn emit_llvm_to(mut self, path: impl AsRef<Path>) -> Self {
        self.llvm_dir = Some(path.as_ref().to_owned());
        self
    }

    /// The folder to build in. The default is `cuda-builder` in the target folder of the crate's workspace.
    #[must_use]
    pub fn target_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.target_dir = Some(path.as_ref().to_owned());
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

    /// Compiles, and returns the path of the PTX.
    ///
    /// # Errors
    ///
    /// [`CudaBuilderError`] says what failed and what to do. Nothing is written to [`copy_to`](Self::copy_to) then.
    pub fn build(&self) -> Result<PathBuf, CudaBuilderError> {
        if !self.path.join("Cargo.toml").is_file() {
            return Err(CudaBuilderError::CratePathDoesntExist { path: self.path.clone() });
        }
        let compiler = self.compiler()?;
        let workspace = Workspace::of_crate(&self.path, Some(&compiler.cargo))?;
        if std::env::var_os("OUT_DIR").is_some() {
            // This runs in a build script.
            for folder in &workspace.source_folders {
                println!("cargo::rerun-if-changed={}", folder.display());
            }
        }
        let target_dir = self.target_dir.clone().unwrap_or_else(|| workspace.target.join("cuda-builder"));
        // Builds that share a folder would overwrite each other's files.
        fs::create_dir_all(&target_dir).map_err(CudaBuilderError::io("create", &target_dir))?;
        let lock = target_dir.join("lock");
        let lock_file = fs::File::create(&lock).map_err(CudaBuilderError::io("write", &lock))?;
        lock_file.lock().map_err(CudaBuilderError::io("lock", &lock))?;
        let text = self.compile(&compiler, &workspace, &target_dir)?;
        let path = match &self.copy_to {
            Some(path) => path.clone(),
            None => target_dir.join(format!("{}.{}.ptx", workspace.library, self.arch)),
        };
        write_whole(&path, &text)?;
        Ok(path)
    }

    fn compiler(&self) -> Result<DeviceCompiler, CudaBuilderError> {
        let mut search = Search::from_environment();
        if let Some(rustc) = &self.rustc {
            search.rustc = Some((rustc.clone(), "CudaBuilder::rustc"));
        }
        if let Some(llvm_bin) = &self.llvm_bin {
            search.llvm_bin = Some((llvm_bin.clone(), "CudaBuilder::llvm_bin"));
        }
        search.find()
    }

    fn compile(
        &self,
        compiler: &DeviceCompiler,
        workspace: &Workspace,
        target_dir: &Path,
    ) -> Result<String, CudaBuilderError> {
        let digest = SourceDigest::of_packages(&workspace.root, &workspace.source_folders)?;
        let from_rustc = rustc::emit_ir(self, compiler, workspace, target_dir)?;
        let name = |step: &str| format!("{}.{}.{step}", workspace.library, self.arch);
        let to_optimise = target_dir.join(name("rewritten.ll"));
        let optimised = target_dir.join(name("optimised.ll"));
        let printed = target_dir.join(name("llc.ptx"));

        let read = |path: &Path| fs::read_to_string(path).map_err(CudaBuilderError::io("read", path));
        let needed = ir::reachable(&read(&from_rustc)?);
        fs::write(&from_rustc, &needed).map_err(CudaBuilderError::io("write", &from_rustc))?;
        self.keep(&from_rustc, &name("1-rustc.ll"))?;
        let rewritten = ir::rewrite(&needed)?;
        if rewritten.kernels.is_empty() {
            return Err(CudaBuilderError::NoKernels { package: workspace.package.clone() });
        }
        fs::write(&to_optimise, &rewritten.ir).map_err(CudaBuilderError::io("write", &to_optimise))?;
        self.keep(&to_optimise, &name("2-rewritten.ll"))?;
        llvm::optimise(compiler, self, &to_optimise, &optimised)?;
        self.keep(&optimised, &name("3-optimised.ll"))?;
        if let Some(path) = &self.final_module_path {
            write_whole(path, &read(&optimised)?)?;
        }
        llvm::compile(compiler, self, &optimised, &printed)?;

        let ptx = ptx::tidy(&read(&printed)?, &crate_prefix(workspace));
        // LLVM only warns about an unknown processor, and then compiles for its default.
        if !ptx.lines().any(|line| line.strip_prefix(".target ") == Some(self.arch.target())) {
            return Err(CudaBuilderError::UnsupportedArch { arch: self.arch, compiler: compiler.to_string() });
        }
        ptx::check(&ptx, &rewritten.variables)?;
        let arch = self.arch;
        let made_by = format!("// coalesce: made by {compiler} for {arch}; remake with: cargo xtask build-ptx");
        Ok(format!("{}\n{made_by}\n\n{ptx}", digest.header()))
    }

    /// Copies an intermediate file to the caller's folder for them.
    fn keep(&self, from: &Path, name: &str) -> Result<(), CudaBuilderError> {
        let Some(folder) = &self.llvm_dir else { return Ok(()) };
        fs::create_dir_all(folder).map_err(CudaBuilderError::io("create", folder))?;
        let to = folder.join(name);
        fs::copy(from, &to).map_err(CudaBuilderError::io("write", &to))?;
        Ok(())
    }
}

/// The prefix of the paths of the crate's files, relative to the workspace.
fn crate_prefix(workspace: &Workspace) -> String {
    let relative = workspace.folder.strip_prefix(&workspace.root).unwrap_or(&workspace.folder);
    if relative.as_os_str().is_empty() { "src/".to_owned() } else { format!("{}/", relative.display()) }
}

/// Writes a file whole or not at all: to a temporary file beside it, which is then renamed. A symbolic link stays, and the file
/// that it points to is replaced.
///
/// # Errors
///
/// [`CudaBuilderError::Io`] if the folder cannot be made or the file cannot be written.
pub fn write_whole(path: &Path, text: &str) -> Result<(), CudaBuilderError> {
    let followed = match path.is_symlink() {
        true => fs::canonicalize(path).map_err(CudaBuilderError::io("follow the link", path))?,
        false => path.to_owned(),
    };
    let path = followed.as_path();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(CudaBuilderError::io("create", folder))?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(CudaBuilderError::io("write in", folder))?;
    file.write_all(text.as_bytes()).map_err(CudaBuilderError::io("write", path))?;
    #[cfg(unix)]
    {
        // Temporary files are private; give this one the usual permissions.
        use std::os::unix::fs::PermissionsExt as _;
        let readable = fs::Permissions::from_mode(0o644);
        file.as_file().set_permissions(readable).map_err(CudaBuilderError::io("write", path))?;
    }
    file.persist(path).map_err(|error| CudaBuilderError::Io {
        path: path.to_owned(),
        action: "write",
        source: error.error,
    })?;
    Ok(())
}
