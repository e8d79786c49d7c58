//! Compiles sources that are not trusted: the crate's dependencies are compiled before, by cargo,
//! and then rustc, `opt` and `llc` compile other sources against them. The caller runs all of
//! these, and can confine the last three.
//!
//! *Invariant:* nothing but the three programs, run by the caller's [`Runner`], opens a file of the
//! sources. They read what [`Prepared::reads`] lists and the folder that they are run in, write to
//! that folder only, and find two variables in their environment.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::builder::Runner;
use crate::messages::with_library_name;
use crate::rustc::{self, TARGET};
use crate::toolchain::DeviceCompiler;
use crate::workspace::Workspace;
use crate::{CudaBuilder, CudaBuilderError, ir};

/// A crate whose dependencies are compiled. [`CudaBuilder::prepare`] makes it.
#[derive(Debug, Deserialize, Serialize)]
pub struct Prepared {
    builder: CudaBuilder,
    compiler: DeviceCompiler,
    workspace: Workspace,
    /// Folders of compiled crates: the kernels', and those of macros, which run on this machine.
    folders: [PathBuf; 2],
    /// Arguments for the crates that the sources name.
    externs: Vec<String>,
}

/// rustc's link-time optimisation, which joins the crate's module with those of its dependencies.
#[derive(Clone, Copy, PartialEq)]
enum Lto {
    Off,
    Fat,
}

impl CudaBuilder {
    /// Compiles the dependencies of the crate, unless they are compiled already, and the crate
    /// itself, with cargo, which `runner` runs.
    ///
    /// # Errors
    ///
    /// As [`CudaBuilder::build`].
    pub fn prepare(&self, runner: Runner<'_>) -> Result<Prepared, CudaBuilderError> {
        let compiler = self.compiler()?;
        let workspace = Workspace::of_crate(&self.path, Some(&compiler.cargo))?;
        let target_dir = self.target_dir.clone().unwrap_or_else(|| workspace.target.join("cuda-builder"));
        let mut cargo = rustc::cargo(self, &compiler, &workspace, &target_dir);
        cargo.arg("--message-format=json-render-diagnostics").args(&self.build_args);
        let (artifacts, _) = rustc::output(self, &compiler, &workspace, cargo, runner)?;
        let artifacts: Vec<Value> = artifacts.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let folders = [target_dir.join(TARGET).join("release/deps"), target_dir.join("release/deps")];
        let mut externs = Vec::new();
        for (name, library) in artifacts.iter().filter_map(|artifact| library(artifact, &folders[0])) {
            let builtin = ["core", "compiler_builtins"].contains(&name);
            if builtin || workspace.dependencies.iter().any(|known| known == name) {
                let prelude = if builtin { "noprelude:" } else { "" };
                externs.push(format!("{prelude}{name}={library}"));
            }
        }
        Ok(Prepared { builder: self.clone(), compiler, workspace, folders, externs })
    }
}

/// The name and the file of a library for the device, from cargo's message about it.
fn library<'a>(artifact: &'a Value, folder: &Path) -> Option<(&'a str, &'a str)> {
    let files = artifact["filenames"].as_array()?.iter().filter_map(Value::as_str);
    let mut libraries = files.filter(|file| file.ends_with(".rlib") && Path::new(file).starts_with(folder));
    Some((artifact["target"]["name"].as_str()?, libraries.next()?))
}

impl Prepared {
    /// Whether it is of this compiler, and no library has been removed since.
    pub fn is_complete(&self, compiler: &DeviceCompiler) -> bool {
        let is_there = |argument: &String| argument.split_once('=').is_some_and(|(_, file)| Path::new(file).is_file());
        self.compiler == *compiler && self.externs.iter().all(is_there)
    }

    /// The compiler, with its versions.
    pub fn compiler(&self) -> String {
        self.compiler.to_string()
    }

    /// The files and folders that the programs read, besides the system's libraries and the folder
    /// that they are run in.
    pub fn reads(&self) -> Vec<PathBuf> {
        let dependencies = self.workspace.source_folders.iter().filter(|folder| **folder != self.workspace.folder);
        let sources = dependencies.map(|folder| folder.join("src"));
        self.compiler.files().into_iter().chain(self.folders.clone()).chain(sources).collect()
    }

    /// Compiles the crate whose root is `source`, a path relative to `folder`, which receives
    /// everything that is written. Returns the PTX.
    ///
    /// # Errors
    ///
    /// [`CudaBuilderError::BuildFailed`] has rustc's messages as JSON, a line each; other errors
    /// are as those of [`CudaBuilder::build`].
    pub fn compile(&self, folder: &Path, source: &Path, runner: Runner<'_>) -> Result<String, CudaBuilderError> {
        let Self { builder, compiler, workspace, .. } = self;
        let ir = folder.join(format!("{}.ll", workspace.library));
        let run = |command: &mut Command| runner(clear(command).current_dir(folder));
        // Most kernels need no function of a library that is not inlined. Only the others wait until
        // all of `core` is joined with the module, which takes longer than all that follows.
        self.emit_ir(folder, source, Lto::Off, &run)?;
        let text = fs::read_to_string(&ir).map_err(CudaBuilderError::io("read", &ir))?;
        if !ir::is_whole(&ir::reachable(&text)) {
            self.emit_ir(folder, source, Lto::Fat, &run)?;
        }
        builder.finish(compiler, workspace, &ir, folder, &run)
    }

    /// Writes the LLVM IR of the crate to `folder`.
    fn emit_ir(&self, folder: &Path, source: &Path, lto: Lto, run: Runner<'_>) -> Result<(), CudaBuilderError> {
        let Self { builder, compiler, workspace, .. } = self;
        let mut rustc = self.rustc(folder, source, lto);
        let output =
            run(rustc.envs(rustc::environment(builder))).map_err(CudaBuilderError::io("run", &compiler.rustc))?;
        if output.status.success() {
            return Ok(());
        }
        let messages = with_library_name(String::from_utf8_lossy(&output.stderr).trim()).into_owned();
        let (package, arch) = (workspace.package.clone(), builder.arch);
        // Errors and panics of rustc. The sources may have it say anything: what has happened, its
        // status alone shows.
        Err(match matches!(output.status.code(), Some(1 | 101)) && messages.lines().any(is_error) {
            true => CudaBuilderError::BuildFailed { package, arch, messages },
            false => CudaBuilderError::Tool {
                tool: "rustc".to_owned(),
                message: format!("{} ({})", beside_messages(&messages), output.status),
                advice: "check that it runs, and that this machine has memory left",
            },
        })
    }

    /// rustc, as cargo would run it, without linking.
    fn rustc(&self, folder: &Path, source: &Path, lto: Lto) -> Command {
        let Self { builder, compiler, workspace, folders, externs } = self;
        let mut rustc = Command::new(&compiler.rustc);
        rustc.arg("--crate-name").arg(&workspace.library).arg(format!("--edition={}", workspace.edition)).arg(source);
        rustc.args(["--error-format=json", "--json=diagnostic-rendered-ansi", "--crate-type=cdylib", "-Zno-link"]);
        // rustc joins modules only when it would link.
        rustc
            .arg(if lto == Lto::Off { "--emit=llvm-ir" } else { "--emit=link,llvm-ir" })
            .arg("--out-dir")
            .arg(folder)
            .arg("--target")
            .arg(TARGET);
        for (variable, value) in rustc::profile(builder) {
            let option = variable.trim_start_matches("CARGO_PROFILE_RELEASE_").to_lowercase().replace('_', "-");
            match (option.as_str(), value) {
                ("incremental", _) => {}
                ("lto", _) if lto == Lto::Off => {}
                ("debug", value) => _ = rustc.arg(format!("-Cdebuginfo={value}")),
                (option, value) => _ = rustc.arg(format!("-C{option}={value}")),
            }
        }
        for folder in folders {
            let mut argument = OsString::from("dependency=");
            argument.push(folder);
            rustc.arg("-L").arg(argument);
        }
        externs.iter().for_each(|argument| _ = rustc.arg("--extern").arg(argument));
        rustc.args(rustc::rust_flags(builder, compiler, workspace)).args(rustc::own_flags(workspace));
        rustc.arg(rustc::remap(folder, ""));
        rustc
    }
}

/// Whether a line of rustc's is an error about the sources.
fn is_error(line: &str) -> bool {
    let message = serde_json::from_str::<Value>(line).unwrap_or_default();
    message["level"].as_str().is_some_and(|level| level.starts_with("error"))
}

/// The first line that is no message about the sources.
fn beside_messages(messages: &str) -> &str {
    messages.lines().find(|line| !line.starts_with('{')).unwrap_or("no message")
}

/// Takes the environment away, but for what Windows needs to start a program.
fn clear(command: &mut Command) -> &mut Command {
    let kept = ["PATH", "SystemRoot", "TEMP"].into_iter().filter(|_| cfg!(windows));
    let kept: Vec<_> = kept.filter_map(|name| Some((name, std::env::var_os(name)?))).collect();
    let own: Vec<_> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    command.env_clear().envs(kept).envs(own)
}
