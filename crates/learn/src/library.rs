//! The device library, `core` and `cuda_std`, compiled by cargo once for all jobs of all processes.
//! [`crate::compile`] compiles kernels against it.
//!
//! Its folder, `target/learn/library/DIGEST`, is named after its sources, so what one process uses
//! does not change when another finds new sources. When cargo is done, the file `ready` describes
//! the result, and later processes need no cargo.
//!
//! *Invariant:* cargo runs in the folder under its lock, and `ready` is written last.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cuda_builder::toolchain::DeviceCompiler;
use cuda_builder::{CudaBuilder, NvvmArch, Prepared};
use serde::{Deserialize, Serialize};

use crate::digest;
use crate::error::{Error, Result};
use crate::process::{INTERVAL, Runner};
use crate::terminal::note;

/// The crate that is compiled for the sake of its dependencies.
const DEPENDENCIES: &str = "//! Made by `cargo learn`.\n#![no_std]\n";

/// A device library in a clone.
#[derive(Debug)]
pub struct Library {
    /// The root of the clone.
    root: PathBuf,
    folder: PathBuf,
    arch: NvvmArch,
}

/// The content of the file `ready`.
#[derive(Deserialize, Serialize)]
struct Ready {
    /// Distinguishes compilers of the same version: nightly ones have it for weeks.
    stamp: String,
    prepared: Prepared,
}

impl Library {
    /// The library of the clone at `root` for an architecture, with the sources that `digest` stands
    /// for.
    pub fn new(root: &Path, digest: &str, arch: NvvmArch) -> Self {
        let name = &digest::of(&[digest.as_bytes(), arch.target().as_bytes()])[..16];
        Self { root: root.to_owned(), folder: root.join("target/learn/library").join(name), arch }
    }

    fn ready(&self) -> PathBuf {
        self.folder.join("ready")
    }

    /// Whether it has not been compiled yet.
    pub fn is_new(&self) -> bool {
        !self.ready().exists()
    }

    /// The compiled library. cargo compiles it first if it is new, or by another compiler.
    ///
    /// # Errors
    ///
    /// [`Error::Compiler`], and [`Error::File`] when its folder cannot be written.
    pub fn prepared(&self, runner: Runner) -> Result<Prepared> {
        // Jobs of this process wait here, without a note about other processes.
        static COMPILING: Mutex<()> = Mutex::new(());
        let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
        let compiler = DeviceCompiler::find()?;
        if let Some(prepared) = self.known(&compiler) {
            return Ok(prepared);
        }
        let _lock = lock(&self.folder, runner)?;
        if let Some(prepared) = self.known(&compiler) {
            return Ok(prepared);
        }
        self.make_crate()?;
        // What a barrier in a branch does, the simulator shows.
        let builder = CudaBuilder::new(&self.folder)
            .arch(self.arch)
            .target_dir(self.folder.join("target"))
            .check_barriers(false)
            .remade_with("cargo learn check --write-ptx");
        let prepared = builder.prepare(&|cargo| runner.cargo(cargo))?;
        let ready = Ready { stamp: stamp(&compiler), prepared };
        let text = serde_json::to_string(&ready).expect("paths and strings can be written");
        cuda_builder::write_whole(&self.ready(), &text)?;
        Ok(ready.prepared)
    }

    /// What `ready` says, if it is of this compiler and complete.
    fn known(&self, compiler: &DeviceCompiler) -> Option<Prepared> {
        let ready: Ready = serde_json::from_str(&fs::read_to_string(self.ready()).ok()?).ok()?;
        let is_it = ready.stamp == stamp(compiler) && ready.prepared.is_complete(compiler);
        is_it.then_some(ready.prepared)
    }

    /// Makes the crate whose dependencies are compiled.
    fn make_crate(&self) -> Result<()> {
        let source = self.folder.join("src");
        fs::create_dir_all(&source).map_err(Error::writing(&source))?;
        let cuda_std = self.root.join("crates/cuda_std");
        for (name, text) in [("Cargo.toml", manifest(&cuda_std)?), ("src/lib.rs", DEPENDENCIES.to_owned())] {
            let file = self.folder.join(name);
            fs::write(&file, text).map_err(Error::writing(&file))?;
        }
        // The same versions as the clone's, so that nothing is downloaded.
        let lock = self.root.join("Cargo.lock");
        fs::copy(&lock, self.folder.join("Cargo.lock")).map_err(Error::reading(&lock))?;
        Ok(())
    }
}

/// The age and size of a compiler's program.
pub fn stamp(compiler: &DeviceCompiler) -> String {
    let known = fs::metadata(&compiler.rustc).ok();
    let modified = known.as_ref().and_then(|known| known.modified().ok());
    format!("{modified:?} {:?}", known.map(|known| known.len()))
}

/// Waits until no other process uses a folder, and keeps others out until the file is closed.
///
/// # Errors
///
/// [`Error::File`], and [`Error::Usage`] when the runner is stopped.
pub fn lock(folder: &Path, runner: Runner) -> Result<File> {
    fs::create_dir_all(folder).map_err(Error::writing(folder))?;
    let path = folder.join("lock");
    let lock = File::create(&path).map_err(Error::writing(&path))?;
    let mut announced = false;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::Error(error)) => return Err(Error::writing(&path)(error)),
            Err(TryLockError::WouldBlock) if runner.is_stopped() => {
                return Err(Error::Usage("interrupted".to_owned()));
            }
            Err(TryLockError::WouldBlock) => {}
        }
        if !announced {
            note!("Waiting for another `cargo learn`, which compiles in {}.", folder.display());
            announced = true;
        }
        std::thread::sleep(INTERVAL);
    }
}

/// The manifest of the crate around the student's file.
fn manifest(cuda_std: &Path) -> Result<String> {
    let unreadable =
        || Error::Usage(format!("{}: this path is not UTF-8, as cargo needs it: move the clone", cuda_std.display()));
    let path = toml::Value::from(cuda_std.to_str().ok_or_else(unreadable)?);
    Ok(format!(
        "[package]\nname = \"exercise\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ncuda_std = {{ package = \"coalesce-cuda-std\", path = {path} }}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_names_any_folder() {
        for path in ["/plain", "/Zoe\u{308}/coalesce", "/a \"b\"\\c\n'd'", "/\u{1}\u{200e}"] {
            let table: toml::Table = manifest(Path::new(path)).unwrap().parse().unwrap();
            assert_eq!(table["dependencies"]["cuda_std"]["path"].as_str(), Some(path));
        }
    }

    #[test]
    fn other_sources_are_compiled_in_another_folder() {
        let of = |digest, arch| Library::new(Path::new("/clone"), digest, arch).folder;
        let one = of("1", NvvmArch::Compute75);
        assert!(one != of("2", NvvmArch::Compute75) && one != of("1", NvvmArch::Compute80));
        assert!(one.starts_with("/clone/target/learn/library"));
    }
}
