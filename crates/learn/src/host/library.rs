//! `cust` and the crate around host exercises, compiled by cargo once, in
//! `target/learn/host/DIGEST`. [`super::program`] compiles students' files against them. As in
//! [`crate::library`], the file `ready` is written last.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use cuda_builder::toolchain::DeviceCompiler;
use cuda_builder::{CudaBuilderError, SourceDigest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest;
use crate::error::{Error, Result};
use crate::library::{lock, stamp};
use crate::process::Runner;
use crate::terminal::note;

/// The crate around host exercises.
const TASK: &str = include_str!("task.rs");
/// Its name.
const NAME: &str = "exercise_host";
/// The crates of the clone that stand in for published ones, as in the clone's own manifest.
const PATCHES: [&str; 2] = ["cust_raw", "find_cuda_helper"];
/// The versions of all that it needs.
const LOCK: &str = include_str!("Cargo.lock");

/// The compiled libraries.
#[derive(Debug, Deserialize, Serialize)]
pub struct HostLibrary {
    /// Distinguishes compilers of the same version.
    stamp: String,
    /// The compiler.
    pub rustc: PathBuf,
    /// The folder of all libraries.
    pub folder: PathBuf,
    /// Arguments for the crates that programs name.
    pub externs: Vec<String>,
    /// The folders of the libraries' sources, the standard library's too, which messages name.
    pub sources: Vec<PathBuf>,
}

/// The libraries of the clone at `root`. cargo compiles them first if they are new.
///
/// # Errors
///
/// [`Error::Compiler`], [`Error::File`], and [`Error::Usage`] with what cargo says.
pub fn host_library(root: &Path, announces: bool, runner: Runner) -> Result<HostLibrary> {
    static COMPILING: Mutex<()> = Mutex::new(());
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    let compiler = DeviceCompiler::find()?;
    let manifest = manifest(root)?;
    let packages = PATCHES.map(|name| root.join("crates").join(name));
    let sources = SourceDigest::of_packages(root, &packages).map_err(CudaBuilderError::from)?;
    let sources = sources.to_string();
    let digest = digest::of(&[&manifest, TASK, LOCK, &sources].map(str::as_bytes));
    let folder = root.join("target/learn/host").join(&digest[..16]);
    let ready = folder.join("ready");
    let known = || -> Option<HostLibrary> {
        let known: HostLibrary = serde_json::from_str(&fs::read_to_string(&ready).ok()?).ok()?;
        let is_there = |argument: &String| argument.split_once('=').is_some_and(|(_, file)| Path::new(file).is_file());
        (known.stamp == stamp(&compiler) && known.externs.iter().all(is_there)).then_some(known)
    };
    if let Some(known) = known() {
        return Ok(known);
    }
    let _lock = lock(&folder, runner)?;
    if let Some(known) = known() {
        return Ok(known);
    }
    if announces {
        note!("The first host exercise compiles `cust`: this takes a minute, once.");
    }
    let source = folder.join("src");
    fs::create_dir_all(&source).map_err(Error::writing(&source))?;
    for (name, text) in [("Cargo.toml", manifest.as_str()), ("src/lib.rs", TASK), ("Cargo.lock", LOCK)] {
        let file = folder.join(name);
        fs::write(&file, text).map_err(Error::writing(&file))?;
    }
    let mut cargo = Command::new(&compiler.cargo);
    cargo
        .args(["build", "--quiet", "--message-format=json-render-diagnostics", "--target-dir"])
        .arg(folder.join("target"));
    cargo.env("RUSTC", &compiler.rustc).env_remove("RUSTFLAGS").current_dir(&folder);
    let output = runner.cargo(&mut cargo).map_err(Error::reading(&compiler.cargo))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::Usage(format!("`cust` cannot be compiled for host exercises: {messages}")));
    }
    let artifacts = String::from_utf8_lossy(&output.stdout).into_owned();
    let artifacts: Vec<Value> = artifacts.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let named = |name: &str| {
        let artifact = artifacts.iter().find(|artifact| artifact["target"]["name"] == name)?;
        let mut files = artifact["filenames"].as_array()?.iter().filter_map(Value::as_str);
        Some(format!("{name}={}", files.find(|file| file.ends_with(".rlib"))?))
    };
    let lacks = |name| move || Error::Usage(format!("cargo has compiled no `{name}` for host exercises"));
    let task = named(NAME).ok_or_else(lacks(NAME))?;
    let cust = named("cust").ok_or_else(lacks("cust"))?;
    let of = |artifact: &Value| Some(Path::new(artifact["target"]["src_path"].as_str()?).parent()?.to_owned());
    let std = compiler.sysroot.join("lib/rustlib/src/rust/library");
    let sources = artifacts.iter().filter_map(of).chain([std]).collect();
    let library = HostLibrary {
        stamp: stamp(&compiler),
        rustc: compiler.rustc,
        folder: folder.join("target/debug/deps"),
        externs: vec![task, cust],
        sources,
    };
    let text = serde_json::to_string(&library).expect("paths and strings can be written");
    cuda_builder::write_whole(&ready, &text)?;
    Ok(library)
}

/// The manifest of the crate around host exercises.
fn manifest(root: &Path) -> Result<String> {
    let path = |name: &str| {
        let path = root.join("crates").join(name);
        let text = path.to_str().map(str::to_owned);
        let text =
            text.ok_or_else(|| Error::Usage(format!("{}: this path is not UTF-8: move the clone", path.display())));
        text.map(|text| toml::Value::from(text).to_string())
    };
    let patches = PATCHES.iter().map(|name| Ok(format!("{name} = {{ path = {} }}\n", path(name)?)));
    let patches = patches.collect::<Result<String>>()?;
    Ok(format!(
        "[package]\nname = \"{NAME}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[profile.dev]\ndebug = false\n\n\
         [dependencies]\ncust = {{ version = \"=0.3.2\", default-features = false, features = [\"bytemuck\"] }}\n\n\
         [patch.crates-io]\n{patches}"
    ))
}
