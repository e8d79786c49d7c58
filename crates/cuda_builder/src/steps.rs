//! The steps from Rust to PTX, in order.

use std::fs;
use std::path::{Path, PathBuf};

use crate::builder::Runner;
use crate::toolchain::{DeviceCompiler, Search};
use crate::workspace::Workspace;
use crate::{CudaBuilder, CudaBuilderError, SourceDigest, UniformityError, ir, llvm, ptx, rustc, uniform, write_whole};

/// The digest of the sources of the crate of kernels at `path`, and of all its path dependencies.
///
/// # Errors
///
/// [`CudaBuilderError::CratePathDoesntExist`], [`CudaBuilderError::Tool`] when cargo cannot read
/// the workspace, and [`CudaBuilderError::Io`] when a source cannot be read.
pub fn digest_of_crate(path: impl AsRef<Path>) -> Result<SourceDigest, CudaBuilderError> {
    let workspace = Workspace::of_crate(path.as_ref(), None)?;
    Ok(SourceDigest::of_packages(&workspace.root, &workspace.source_folders)?)
}

impl CudaBuilder {
    /// Compiles, and returns the path of the PTX.
    ///
    /// # Errors
    ///
    /// [`CudaBuilderError`] says what failed and what to do. Nothing is written to
    /// [`copy_to`](Self::copy_to) then.
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

    pub(crate) fn compiler(&self) -> Result<DeviceCompiler, CudaBuilderError> {
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
        let ptx = self.finish(compiler, workspace, &from_rustc, target_dir, &|command| command.output())?;
        Ok(format!("{}\n{ptx}", digest.header()))
    }

    /// From the IR of rustc to PTX, without the digest of its sources.
    pub(crate) fn finish(
        &self,
        compiler: &DeviceCompiler,
        workspace: &Workspace,
        from_rustc: &Path,
        target_dir: &Path,
        runner: Runner<'_>,
    ) -> Result<String, CudaBuilderError> {
        let name = |step: &str| format!("{}.{}.{step}", workspace.library, self.arch);
        let to_optimise = target_dir.join(name("rewritten.ll"));
        let optimised = target_dir.join(name("optimised.ll"));
        let printed = target_dir.join(name("llc.ptx"));

        let read = |path: &Path| fs::read_to_string(path).map_err(CudaBuilderError::io("read", path));
        let needed = ir::reachable(&read(from_rustc)?);
        fs::write(from_rustc, &needed).map_err(CudaBuilderError::io("write", from_rustc))?;
        self.keep(from_rustc, &name("1-rustc.ll"))?;
        let rewritten = ir::rewrite(&needed)?;
        if rewritten.kernels.is_empty() {
            return Err(CudaBuilderError::NoKernels { package: workspace.package.clone() });
        }
        let check = |kernels| self.check_copy(compiler, workspace, (&rewritten, kernels), target_dir, runner);
        let mut findings = check(uniform::Kernels::Phased)?;
        let without_phases = ir::without_phases(&rewritten.ir)?;
        fs::write(&to_optimise, without_phases).map_err(CudaBuilderError::io("write", &to_optimise))?;
        self.keep(&to_optimise, &name("2-rewritten.ll"))?;
        llvm::optimise(compiler, self, &to_optimise, &optimised, runner)?;
        self.keep(&optimised, &name("3-optimised.ll"))?;
        let module = read(&optimised)?;
        if self.check_barriers {
            let others = check(uniform::Kernels::Named(&suspects(&module, &rewritten)))?;
            // A kernel with phases may be among both.
            let new: Vec<_> =
                others.into_iter().filter(|new| !findings.iter().any(|known| known.place() == new.place())).collect();
            findings.extend(new);
        }
        if !findings.is_empty() {
            return Err(CudaBuilderError::Uniformity { findings });
        }
        if let Some(path) = &self.final_module_path {
            write_whole(path, &module)?;
        }
        llvm::compile(compiler, self, &optimised, &printed, runner)?;

        let ptx = ptx::tidy(&read(&printed)?, &crate_prefix(workspace));
        // LLVM only warns about an unknown processor, and then compiles for its default.
        if !ptx.lines().any(|line| line.strip_prefix(".target ") == Some(self.arch.target())) {
            return Err(CudaBuilderError::UnsupportedArch { arch: self.arch, compiler: compiler.to_string() });
        }
        ptx::check(&ptx, &rewritten.variables)?;
        let ptx = ptx::with_signatures(&ptx, &rewritten.signatures);
        let arch = self.arch;
        let remake = self.remade_with.iter().map(|command| format!("; remake with: {command}")).collect::<String>();
        let made_by = format!("// coalesce: made by {compiler} for {arch}{remake}");
        Ok(format!("{made_by}\n\n{ptx}"))
    }

    /// Checks that all threads of a block go through the same barriers and phases, in a copy of
    /// some kernels. Returns what is wrong, but for what is only warned of.
    fn check_copy(
        &self,
        compiler: &DeviceCompiler,
        workspace: &Workspace,
        (rewritten, kernels): (&ir::Rewritten, uniform::Kernels<'_>),
        target_dir: &Path,
        runner: Runner<'_>,
    ) -> Result<Vec<UniformityError>, CudaBuilderError> {
        let Some(part) = uniform::part(&rewritten.ir, kernels) else { return Ok(Vec::new()) };
        let name = |step: &str| target_dir.join(format!("{}.{}.{step}", workspace.library, self.arch));
        let (to_inline, inlined) = (name("part.ll"), name("inlined.ll"));
        fs::write(&to_inline, part).map_err(CudaBuilderError::io("write", &to_inline))?;
        llvm::inline(compiler, self, &to_inline, &inlined, runner)?;
        let module = fs::read_to_string(&inlined).map_err(CudaBuilderError::io("read", &inlined))?;
        let mut findings = Vec::new();
        for uniform::Finding { kernel, error } in uniform::check(&module, &crate_prefix(workspace)) {
            match rewritten.divergent.get(&kernel) {
                // The soundness of phases depends on all barriers of their kernel.
                _ if matches!(kernels, uniform::Kernels::Phased) => findings.push(error),
                Some(ir::Divergent::Allowed) => {}
                Some(ir::Divergent::Warned) => eprintln!("warning: {error}"),
                None => findings.push(error),
            }
        }
        Ok(findings)
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

/// The kernels whose barriers may depend on the thread, going by the optimised module.
fn suspects(optimised: &str, rewritten: &ir::Rewritten) -> Vec<String> {
    let findings = uniform::check(optimised, "").into_iter();
    let mut kernels: Vec<String> = findings.map(|finding| finding.kernel).collect();
    kernels.retain(|kernel| rewritten.divergent.get(kernel) != Some(&ir::Divergent::Allowed));
    kernels.dedup();
    kernels
}

/// The prefix of the paths of the crate's files, relative to the workspace.
fn crate_prefix(workspace: &Workspace) -> String {
    let relative = workspace.folder.strip_prefix(&workspace.root).unwrap_or(&workspace.folder);
    if relative.as_os_str().is_empty() { "src/".to_owned() } else { format!("{}/", relative.display()) }
}
