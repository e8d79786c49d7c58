//! Compiles one file of kernels to PTX, as a module of a small crate that is made for it. [`crate::judge`] calls it.
//!
//! The crate is in `target/learn/N`, one for each concurrent job. `core` and `cuda_std` are compiled there once; after that a file
//! takes about a second. PTX is cached under the digests of the text and of the device library, so a solution is compiled once, and
//! cached PTX needs no device compiler.

use std::fs;
use std::path::{Path, PathBuf};

use cuda_builder::{CudaBuilder, CudaBuilderError, SourceDigest};
use xxhash_rust::xxh3::xxh3_128;

use crate::error::{Error, Result};

/// The file's name in the crate, as in rustc's messages and the PTX's line information.
pub const SOURCE: &str = "src/kernel.rs";

/// The environment variable that keeps the jobs of one process apart from those of another.
pub const JOB_VARIABLE: &str = "LEARN_JOB";

/// How many job numbers a process may use.
const JOBS_APART: usize = 1000;

/// The crate around the student's file.
const LIBRARY: &str = "\
//! Made by `cargo learn`.
#![no_std]
#![feature(abi_ptx)]
#![allow(warnings)]
mod kernel;
";

/// A kernel to compile together with the device library.
const WARM: &str = "use cuda_std::prelude::*;\n#[kernel]\npub unsafe fn warm(output: *mut u32) {\n    *output = thread::index_1d();\n}\n";

/// Compiles kernels in a folder of its own.
pub struct Compiler {
    root: PathBuf,
    folder: PathBuf,
    cache: PathBuf,
    /// The digest of everything but the text that decides the PTX.
    library: String,
    colour: bool,
    /// Whether to announce a compilation that takes long.
    announces: bool,
}

/// The result of compiling a file.
#[derive(Debug)]
pub enum Compiled {
    /// PTX, in this file.
    Ptx(PathBuf),
    /// It does not compile: rustc's messages, in which the file is called `src/kernel.rs`.
    Rejected(String),
}

impl Compiler {
    /// A compiler in the clone at `root`. `job` distinguishes those that work at the same time.
    ///
    /// # Errors
    ///
    /// [`Error::File`], and [`Error::Compiler`] when the device library cannot be read.
    pub fn new(root: &Path, job: usize, colour: bool) -> Result<Self> {
        let learn = root.join("target/learn");
        // Several people (or tests) may work in one clone at the same time.
        let base = std::env::var(JOB_VARIABLE).ok().and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
        let folder = learn.join((base * JOBS_APART + job).to_string());
        let cuda_std = root.join("crates/cuda_std");
        let packages = [cuda_std.clone(), root.join("crates/cuda_std_macros")];
        let digest = SourceDigest::of_packages(root, &packages).map_err(CudaBuilderError::from)?;
        let library = format!("{digest}\n{LIBRARY}");
        let compiler =
            Self { root: root.to_owned(), folder, cache: learn.join("ptx"), library, colour, announces: false };
        compiler.prepare(&cuda_std)?;
        Ok(compiler)
    }

    /// Announces a compilation that takes long, for people.
    pub fn announcing(self) -> Self {
        Self { announces: true, ..self }
    }

    /// Makes the crate around the student's file.
    fn prepare(&self, cuda_std: &Path) -> Result<()> {
        fs::create_dir_all(self.folder.join("src")).map_err(Error::writing(&self.folder))?;
        fs::create_dir_all(&self.cache).map_err(Error::writing(&self.cache))?;
        let manifest = format!(
            "[package]\nname = \"exercise\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\ncuda_std = {{ path = {cuda_std:?} }}\n"
        );
        write_if_new(&self.folder.join("Cargo.toml"), &manifest)?;
        write_if_new(&self.folder.join("src/lib.rs"), LIBRARY)?;
        // The same versions as the clone's, so that nothing is downloaded.
        let lock = self.root.join("Cargo.lock");
        if !self.folder.join("Cargo.lock").is_file() {
            fs::copy(&lock, self.folder.join("Cargo.lock")).map_err(Error::reading(&lock))?;
        }
        Ok(())
    }

    /// Whether nothing has been compiled in its folder yet.
    pub fn is_new(&self) -> bool {
        !self.folder.join("target").exists()
    }

    /// Compiles the device library, if necessary, so that the first file does not wait for it.
    ///
    /// # Errors
    ///
    /// As [`Compiler::compile`].
    pub fn warm(&self) -> Result<()> {
        let text = format!("{WARM}// {}\n", self.folder.display());
        if self.is_new() {
            // The cached PTX was compiled in a folder that has been deleted since.
            let _ = fs::remove_file(self.kept(&text));
        }
        self.compile(&text).map(|_| ())
    }

    /// The path of a text's cached PTX.
    fn kept(&self, text: &str) -> PathBuf {
        let digest = xxh3_128(&[self.library.as_bytes(), &[0], text.as_bytes()].concat());
        self.cache.join(format!("{digest:032x}.ptx"))
    }

    /// Compiles the text of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Compiler`] for failures that are not the text's fault.
    pub fn compile(&self, text: &str) -> Result<Compiled> {
        let ptx = self.kept(text);
        if ptx.is_file() {
            return Ok(Compiled::Ptx(ptx));
        }
        if self.announces && self.is_new() {
            eprintln!("The first run compiles the device library: this takes half a minute, once.");
        }
        // `watch` in one terminal and `run` in another share the folder, so this lock covers everything from writing the text to its PTX.
        let lock = self.folder.join("lock");
        let lock_file = fs::File::create(&lock).map_err(Error::writing(&lock))?;
        lock_file.lock().map_err(Error::writing(&lock))?;
        let source = self.folder.join(SOURCE);
        fs::write(&source, text).map_err(Error::writing(&source))?;
        let mut builder = CudaBuilder::new(&self.folder).target_dir(self.folder.join("target")).copy_to(&ptx);
        if self.colour {
            builder = builder.build_args(&["--color=always"]);
        }
        match builder.build() {
            Ok(path) => Ok(Compiled::Ptx(path)),
            Err(CudaBuilderError::BuildFailed { messages, .. }) => Ok(Compiled::Rejected(rejected(&messages))),
            Err(
                error
                @ (CudaBuilderError::NoKernels { .. } | CudaBuilderError::Rewrite(_) | CudaBuilderError::Check(_)),
            ) => Ok(Compiled::Rejected(format!("error: {}", error.to_string().replace("`exercise`", "this file")))),
            Err(error) => Err(error.into()),
        }
    }
}

/// rustc's messages without those about the crate around the file.
fn rejected(messages: &str) -> String {
    // It prints its own stack trace, thousands of lines long.
    if messages.contains("rustc interrupted by SIG") {
        return "error: the compiler crashed: something in this file is nested or repeated too deeply".to_owned();
    }
    if messages.starts_with("memory allocation of ") {
        return "error: the compiler ran out of memory: something in this file grows without end".to_owned();
    }
    let own = |line: &&str| !line.contains("could not compile") && !line.contains("aborting due to");
    messages.lines().filter(own).collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

/// Writes a file only if its text changes, so that cargo does not recompile.
fn write_if_new(path: &Path, text: &str) -> Result<()> {
    match fs::read_to_string(path) {
        Ok(there) if there == text => Ok(()),
        _ => fs::write(path, text).map_err(Error::writing(path)),
    }
}
