//! Compiles one file of kernels to PTX, as a module of a small crate that is made for it.
//! [`crate::judge`] calls it.
//!
//! `core` and `cuda_std` are compiled once, as a [`Library`] that all jobs share. rustc, `opt` and
//! `llc` compile the file against it, in a [`Sandbox`]: they read the toolchain, the compiled
//! library and its sources, and read and write `target/learn/N/file`, which is emptied for each
//! file. Each concurrent job has another `N`. A file takes about half a second.
//!
//! A file that names `pipeline` is compiled for `sm_80`, the first architecture whose copies are
//! asynchronous; all others for `sm_75`. Each architecture has its library.
//!
//! PTX is cached under a digest of the text and of the sources that compile it, so a solution is
//! compiled once, and cached PTX needs no device compiler.
//!
//! *Invariant:* nothing but the sandbox's processes opens a file that the text may have chosen.

use std::cell::Cell;
#[cfg(feature = "class")]
use std::fs::TryLockError;
use std::fs::{self, File};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use cuda_builder::{CudaBuilderError, NvvmArch, Prepared, SourceDigest};
use exercise::{Exercise, SOURCE};
use sandbox::Sandbox;
use serde::{Deserialize, Serialize};

use crate::diagnostics;
use crate::digest;
use crate::error::{Error, Result};
#[cfg(target_os = "linux")]
use crate::host::program::Tools;
use crate::library::{self, Library};
use crate::process::Runner;
use crate::terminal::note;

/// The environment variable that keeps the jobs of one process apart from those of another.
pub const JOB_VARIABLE: &str = "LEARN_JOB";

/// How many job numbers a process may use.
const JOBS_APART: usize = 1000;

/// The most bytes of PTX that a file may compile to. A file with more is rejected.
const LONGEST_PTX: usize = 16 << 20;

/// The crate around the student's file.
const LIBRARY: &str = "\
//! Made by `cargo learn`.
#![no_std]
#![feature(abi_ptx)]
#![allow(warnings)]
mod kernel;
";

/// A kernel that compiles wherever the compiler works.
const WARM: &str = "use cuda_std::prelude::*;\n#[kernel]\npub unsafe fn warm(output: *mut u32) {\n    *output = thread::index_1d();\n}\n";

/// Compiles kernels, in a folder that no other job uses.
#[derive(Debug)]
pub struct Compiler {
    root: PathBuf,
    folder: PathBuf,
    cache: PathBuf,
    /// The digest of everything in the clone but the text that decides the PTX.
    basis: String,
    prepared: OnceLock<Prepared>,
    /// The library for files that copy asynchronously.
    asynchronous: OnceLock<Prepared>,
    sandboxed: bool,
    colour: bool,
    /// Whether to announce a compilation that takes long.
    announces: bool,
    /// Whether another process holds the folder's lock for this one: it is a judge.
    locked: bool,
    /// What a judge has taken from the cache, with a lock.
    used: Mutex<Vec<File>>,
    /// What host exercises need.
    #[cfg(target_os = "linux")]
    host: OnceLock<Tools>,
    runner: Runner,
}

/// The result of compiling a file.
#[derive(Debug)]
pub enum Compiled {
    /// PTX, in this file.
    Ptx(PathBuf),
    /// It does not compile: rustc's messages, in which the file is called `src/kernel.rs`.
    Rejected(String),
}

/// What one process hands over to another that works in the same folder.
#[derive(Deserialize, Serialize)]
struct HandedOver {
    basis: String,
    prepared: Prepared,
    asynchronous: Option<Prepared>,
    #[cfg(target_os = "linux")]
    host: Option<Tools>,
}

impl Compiler {
    /// A compiler in the clone at `root`, in a sandbox if the machine has one. `job` distinguishes
    /// those that work at the same time.
    ///
    /// # Errors
    ///
    /// [`Error::File`], and [`Error::Compiler`] when the device library cannot be read.
    pub fn new(root: &Path, job: usize, colour: bool) -> Result<Self> {
        let packages = ["cuda_std", "cuda_std_macros", "cuda_builder"].map(|name| root.join("crates").join(name));
        let digest = SourceDigest::of_packages(root, &packages).map_err(CudaBuilderError::from)?;
        let sandboxed = sandbox::missing().is_none();
        let compiler = Self { colour, ..Self::empty(root, job, format!("{digest}\n{LIBRARY}"), sandboxed) };
        for folder in [&compiler.folder, &compiler.cache] {
            fs::create_dir_all(folder).map_err(Error::writing(folder))?;
        }
        Ok(compiler)
    }

    fn empty(root: &Path, job: usize, basis: String, sandboxed: bool) -> Self {
        let learn = root.join("target/learn");
        // Several people (or tests) may work in one clone at the same time.
        let base = std::env::var(JOB_VARIABLE).ok().and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
        let folder = learn.join((base * JOBS_APART + job).to_string());
        Self {
            root: root.to_owned(),
            folder,
            cache: learn.join("ptx"),
            basis,
            prepared: OnceLock::new(),
            asynchronous: OnceLock::new(),
            sandboxed,
            colour: false,
            announces: false,
            locked: false,
            used: Mutex::default(),
            #[cfg(target_os = "linux")]
            host: OnceLock::new(),
            runner: Runner::default(),
        }
    }

    /// The same, in a sandbox or not.
    pub fn sandboxed(self, sandboxed: bool) -> Self {
        Self { sandboxed, ..self }
    }

    /// The same, with programs that end when this is set.
    pub fn stopped_by(self, stop: &'static AtomicBool) -> Self {
        Self { runner: Runner { stop: Some(stop) }, ..self }
    }

    /// Announces a compilation that takes long, for people.
    pub fn announcing(self) -> Self {
        Self { announces: true, ..self }
    }

    /// Hands the folder over to the processes that [`Compiler::taken_over`] makes compilers for,
    /// and keeps others out until the file that is returned is closed: with what these exercises
    /// need.
    ///
    /// # Errors
    ///
    /// As [`Compiler::compile`].
    pub fn hand_over(&self, exercises: &[Exercise]) -> Result<File> {
        let lock = self.lock()?;
        // They must be there for a sandbox that names them.
        for folder in self.folders() {
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).map_err(Error::writing(&folder))?;
        }
        let (basis, prepared) = (&self.basis, self.prepared()?);
        let copies = |exercise: &Exercise| {
            fs::read_to_string(exercise.solution_file()).is_ok_and(|text| copies_asynchronously(&text))
        };
        let asynchronous = match exercises.iter().any(copies) {
            true => Some(self.prepared_for(NvvmArch::Compute80)?),
            false => None,
        };
        #[cfg(target_os = "linux")]
        let host = if exercises.iter().any(Exercise::is_host) { Some(self.host()?) } else { None };
        #[cfg(not(target_os = "linux"))]
        let host = ();
        let text = serde_json::json!({
            "basis": basis, "prepared": prepared, "asynchronous": asynchronous, "host": host
        });
        let text = serde_json::to_string(&text);
        let file = self.handed_over();
        fs::write(&file, text.expect("paths and strings can be written")).map_err(Error::writing(&file))?;
        Ok(lock)
    }

    /// A compiler in the folder that another process has handed over and locked.
    ///
    /// # Errors
    ///
    /// [`Error::File`].
    pub fn taken_over(root: &Path, job: usize, sandboxed: bool) -> Result<Self> {
        let compiler = Self { locked: true, ..Self::empty(root, job, String::new(), sandboxed) };
        let file = compiler.handed_over();
        let text = fs::read_to_string(&file).map_err(Error::reading(&file))?;
        let there = serde_json::from_str(&text).map_err(|error| Error::reading(&file)(error.into()));
        let there: HandedOver = there?;
        #[cfg(target_os = "linux")]
        let compiler = Self { host: there.host.map_or_else(OnceLock::new, OnceLock::from), ..compiler };
        let asynchronous = there.asynchronous.map_or_else(OnceLock::new, OnceLock::from);
        Ok(Self { basis: there.basis, prepared: there.prepared.into(), asynchronous, ..compiler })
    }

    fn handed_over(&self) -> PathBuf {
        self.folder.join("compiler.json")
    }

    /// The folder that is the compiler's own while it compiles a file.
    fn file_folder(&self) -> PathBuf {
        self.folder.join("file")
    }

    /// The folder of the PTX that is kept.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// The folder of the process that judges a file.
    pub fn judge_folder(&self) -> PathBuf {
        self.folder.join("judge")
    }

    /// The folder of a student's program, in a host exercise.
    pub fn program_folder(&self) -> PathBuf {
        self.folder.join("program")
    }

    /// What host exercises are compiled and run with. cargo compiles `cust` first if it is new.
    ///
    /// # Errors
    ///
    /// Those of [`Tools::find`].
    #[cfg(target_os = "linux")]
    pub fn host(&self) -> Result<&Tools> {
        if let Some(library) = self.host.get() {
            return Ok(library);
        }
        let library = Tools::find(&self.root, self.announces, self.runner)?;
        Ok(self.host.get_or_init(|| library))
    }

    /// How it runs programs.
    #[cfg(target_os = "linux")]
    pub fn runner(&self) -> Runner {
        self.runner
    }

    /// Whether it has a sandbox.
    #[cfg(target_os = "linux")]
    pub fn is_sandboxed(&self) -> bool {
        self.sandboxed
    }

    /// Whether messages have colours.
    #[cfg(target_os = "linux")]
    pub fn colour(&self) -> bool {
        self.colour
    }

    /// The device library of the clone for an architecture.
    fn library(&self, arch: NvvmArch) -> Library {
        Library::new(&self.root, &self.basis, arch)
    }

    /// Whether the device library has not been compiled yet.
    pub fn is_new(&self) -> bool {
        self.library(NvvmArch::default()).is_new()
    }

    /// The architecture that a text is compiled for.
    fn arch(&self, text: &str) -> NvvmArch {
        // Who has taken over a folder has the libraries that were handed over.
        let has_library = !self.locked || self.asynchronous.get().is_some();
        match copies_asynchronously(text) && has_library {
            true => NvvmArch::Compute80,
            false => NvvmArch::default(),
        }
    }

    /// What decides the PTX of a text: sources and compiler.
    ///
    /// # Errors
    ///
    /// As [`Compiler::compile`].
    pub fn basis(&self) -> Result<String> {
        Ok(format!("{}\n{}", self.basis, self.prepared()?.compiler()))
    }

    /// What the sandbox of the compiler reads: files and folders that hold nobody's work.
    ///
    /// # Errors
    ///
    /// As [`Compiler::compile`].
    pub fn reads(&self) -> Result<Vec<PathBuf>> {
        let asynchronous = self.asynchronous.get().map(Prepared::reads).unwrap_or_default();
        Ok(self.prepared()?.reads().into_iter().chain(asynchronous).collect())
    }

    /// The folders that are emptied for each file: the compiler's, the judge's, and a program's.
    pub fn folders(&self) -> [PathBuf; 3] {
        [self.file_folder(), self.judge_folder(), self.program_folder()]
    }

    /// Compiles the device library, if necessary, and a kernel, so that what is wrong with the
    /// compiler shows before a student's file has to wait for it or is blamed for it.
    ///
    /// # Errors
    ///
    /// As [`Compiler::compile`].
    pub fn warm(&self) -> Result<()> {
        let text = format!("{WARM}// {}\n", self.folder.display());
        // Cached PTX proves nothing.
        let _ = fs::remove_file(self.kept(&text));
        match self.compile(&text)? {
            Compiled::Ptx(_) => Ok(()),
            Compiled::Rejected(messages) => {
                Err(Error::Usage(format!("the device compiler does not work here: {messages}")))
            }
        }
    }

    /// The path of a text's cached PTX.
    fn kept(&self, text: &str) -> PathBuf {
        let arch = self.arch(text).target();
        self.cache.join(format!("{}.ptx", digest::of(&[self.basis.as_bytes(), arch.as_bytes(), text.as_bytes()])))
    }

    /// A text's cached PTX, if it is there. Who clears the cache (`forget_old`) takes it for the
    /// newest, and leaves it to a judge as long as that runs.
    fn cached(&self, text: &str) -> Option<PathBuf> {
        const TRIES: usize = 8;
        let kept = self.kept(text);
        for _ in 0..TRIES {
            let file = File::open(&kept).ok()?;
            // On a disk that cannot do so, it is as old as it was, or not locked.
            let _ = file.set_modified(SystemTime::now());
            if self.locked {
                let _ = file.lock_shared();
            }
            // Deleted before it was locked; the path may lead to a file that was written since.
            if !is_linked(&file, &kept) {
                continue;
            }
            if self.locked {
                self.used.lock().unwrap_or_else(PoisonError::into_inner).push(file);
            }
            return Some(kept);
        }
        None
    }

    /// Deletes the files of the cache that were not used for longest, if it has more bytes than these, until
    /// it has half of them. Other workers may do so, too.
    #[cfg(feature = "class")]
    pub fn forget_old(&self, most: u64) {
        Self::delete_oldest(self.files(), most);
    }

    /// The files of the cache: when each was last used, its bytes, and its path.
    #[cfg(feature = "class")]
    fn files(&self) -> Vec<(SystemTime, u64, PathBuf)> {
        let entries = fs::read_dir(&self.cache).into_iter().flatten().flatten();
        let known = entries.filter_map(|entry| {
            let of = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((of.modified().ok()?, of.len(), entry.path()))
        });
        known.collect()
    }

    /// Deletes those of these files that were not used for longest, unless a judge uses them or has used
    /// them since.
    #[cfg(feature = "class")]
    fn delete_oldest(mut files: Vec<(SystemTime, u64, PathBuf)>, most: u64) {
        let mut all: u64 = files.iter().map(|(_, length, _)| length).sum();
        if all <= most {
            return;
        }
        files.sort();
        for (used, length, path) in files {
            if all <= most / 2 {
                break;
            }
            // A judge reads it several times.
            let in_use = |file: &File| matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            let Ok(file) = File::open(&path) else { continue };
            let is_old = |file: &File| file.metadata().and_then(|of| of.modified()).is_ok_and(|now| now == used);
            if !in_use(&file) && is_linked(&file, &path) && is_old(&file) && fs::remove_file(path).is_ok() {
                all -= length;
            }
        }
    }

    /// The compiled dependencies of most files.
    fn prepared(&self) -> Result<&Prepared> {
        self.prepared_for(NvvmArch::default())
    }

    /// The compiled dependencies for an architecture.
    fn prepared_for(&self, arch: NvvmArch) -> Result<&Prepared> {
        let known = if arch == NvvmArch::default() { &self.prepared } else { &self.asynchronous };
        if let Some(prepared) = known.get() {
            return Ok(prepared);
        }
        let prepared = self.library(arch).prepared(self.runner)?;
        Ok(known.get_or_init(|| prepared))
    }

    /// Waits until no other process uses the folder.
    fn lock(&self) -> Result<File> {
        library::lock(&self.folder, self.runner)
    }

    /// Keeps other processes out of the folder until the file that is returned is closed; `None` if
    /// they are kept out already.
    #[cfg(target_os = "linux")]
    pub fn lock_folder(&self) -> Result<Option<File>> {
        if self.locked { Ok(None) } else { self.lock().map(Some) }
    }

    /// Compiles the text of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Compiler`] for failures that are not the text's fault.
    pub fn compile(&self, text: &str) -> Result<Compiled> {
        if let Some(kept) = self.cached(text) {
            return Ok(Compiled::Ptx(kept));
        }
        if self.announces && self.library(self.arch(text)).is_new() {
            note!("The first run compiles the device library: this takes half a minute, once.");
        }
        // `watch` in one terminal and `run` in another share the folder, so this lock covers
        // everything until the PTX is there.
        let _lock = if self.locked { None } else { Some(self.lock()?) };
        match self.compile_alone(text)? {
            Ok(ptx) if ptx.len() > LONGEST_PTX => Ok(Compiled::Rejected(format!(
                "error: this file compiles to {} MiB of PTX, and {} MiB are allowed: make its constants smaller\n",
                ptx.len().div_ceil(1 << 20),
                LONGEST_PTX >> 20
            ))),
            Ok(ptx) => {
                let kept = self.kept(text);
                cuda_builder::write_whole(&kept, &ptx)?;
                Ok(Compiled::Ptx(self.cached(text).unwrap_or(kept)))
            }
            Err((CudaBuilderError::BuildFailed { messages, .. }, _)) => {
                // A file may have the compiler say so: only if the smallest of files fares no
                // better, it is true.
                if let Some(why) = of_the_disk(&messages).filter(|_| !matches!(self.compile_alone(WARM), Ok(Ok(_)))) {
                    let folder = self.folder.display();
                    return Err(Error::Usage(format!("{folder}: the compiler cannot write there: {why}")));
                }
                Ok(Compiled::Rejected(diagnostics::shown(&messages, &self.macros(), self.colour)))
            }
            Err((
                error
                @ (CudaBuilderError::NoKernels { .. } | CudaBuilderError::Rewrite(_) | CudaBuilderError::Check(_)),
                _,
            )) => Ok(Compiled::Rejected(format!("error: {}", error.to_string().replace("`exercise`", "this file")))),
            Err((error, signal)) => self.blamed(error, signal),
        }
    }

    /// The folder of the library's procedural macros, as rustc may name it.
    fn macros(&self) -> Vec<PathBuf> {
        let folder = self.root.join("crates/cuda_std_macros/src");
        fs::canonicalize(&folder).into_iter().chain([folder]).collect()
    }

    /// Compiles a text in the folder that is emptied for it, to PTX. With an error comes the signal
    /// that the last program ended by.
    fn compile_alone(&self, text: &str) -> Result<std::result::Result<String, (CudaBuilderError, Option<i32>)>> {
        let prepared = self.prepared_for(self.arch(text))?;
        let folder = self.file_folder();
        // With what is left of a file whose compilation was interrupted.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("src")).map_err(Error::writing(&folder))?;
        for (name, text) in [("src/lib.rs", LIBRARY), (SOURCE, text)] {
            let file = folder.join(name);
            fs::write(&file, text).map_err(Error::writing(&file))?;
        }
        let sandbox = Sandbox::new(prepared.reads(), [folder.clone()]);
        let signal = Cell::new(None);
        let run = |command: &mut Command| {
            let output = self.runner.compiler(command, self.sandboxed.then_some(&sandbox))?;
            signal.set(signal_of(output.status));
            Ok(output)
        };
        let compiled = prepared.compile(&folder, Path::new("src/lib.rs"), &run);
        let _ = fs::remove_dir_all(&folder);
        Ok(compiled.map_err(|error| (error, signal.get())))
    }

    /// Whose fault it is that the compiler broke down: the file's, unless the system has killed the
    /// compiler, or the smallest of files fares no better. Only the signal decides: a file may have
    /// the compiler print anything.
    fn blamed(&self, error: CudaBuilderError, signal: Option<i32>) -> Result<Compiled> {
        const ABORTED: i32 = 6;
        const KILLED: i32 = 9;
        if signal == Some(KILLED) || self.compile_alone(WARM)?.is_err() {
            return Err(error.into());
        }
        let CudaBuilderError::Tool { tool, message, .. } = &error else { return Err(error.into()) };
        let what = match (signal, tool.as_str()) {
            (Some(ABORTED), _) => "ran out of memory: something in this file grows without end".to_owned(),
            (_, "rustc") => "crashed: something in this file is nested or repeated too deeply".to_owned(),
            _ => {
                let folder = format!("{}{MAIN_SEPARATOR}", self.file_folder().display());
                format!("breaks down on this file ({tool}: {})", message.replace(&folder, ""))
            }
        };
        Ok(Compiled::Rejected(format!("error: the compiler {what}")))
    }
}

/// Whether a text may copy to shared memory asynchronously (`cuda_std::pipeline`).
fn copies_asynchronously(text: &str) -> bool {
    text.contains("pipeline")
}

/// What the system said if the compiler could not write its files.
fn of_the_disk(messages: &str) -> Option<&'static str> {
    ["No space left on device", "Disk quota exceeded"].into_iter().find(|why| messages.contains(why))
}

/// The signal that a program ended by.
#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_status: ExitStatus) -> Option<i32> {
    None
}

/// Whether this file, which was opened by the path, is still there.
fn is_linked(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    let is_linked = file.metadata().is_ok_and(|of| std::os::unix::fs::MetadataExt::nlink(&of) > 0);
    #[cfg(not(unix))]
    let is_linked = file.metadata().is_ok();
    is_linked && path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_ptx_is_of_this_text_and_of_these_sources() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("Cargo.lock", "");
        let crates = ["cuda_std", "cuda_std_macros", "cuda_builder"];
        for name in crates {
            write(&format!("crates/{name}/Cargo.toml"), "");
            write(&format!("crates/{name}/src/lib.rs"), "// 1");
        }
        let kept = |text: &str| Compiler::new(root.path(), 0, false).unwrap().kept(text);
        let mut all = vec![kept("a"), kept("b")];
        for name in crates {
            write(&format!("crates/{name}/src/lib.rs"), "// 2");
            all.push(kept("a"));
        }
        assert_eq!(all[4], kept("a"));
        // Each is another file, named by 256 bits.
        assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), all.len());
        assert!(all.iter().all(|path| path.file_stem().unwrap().len() == 64), "{all:?}");
    }
    #[cfg(feature = "class")]
    #[test]
    fn the_compiled_kernels_go_that_were_used_least() {
        use std::time::{Duration, UNIX_EPOCH};
        let root = tempfile::tempdir().unwrap();
        let compiler = |locked| Compiler { locked, ..Compiler::empty(root.path(), 0, String::new(), false) };
        let worker = compiler(false);
        fs::create_dir_all(&worker.cache).unwrap();
        let write = |text: &str, seconds| {
            let file = File::create(worker.kept(text)).unwrap();
            file.set_len(100).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        };
        for (text, seconds) in [("b", 2), ("a", 3), ("d", 1), ("c", 4)] {
            write(text, seconds);
        }
        let left = || ["a", "b", "c", "d"].into_iter().filter(|text| worker.kept(text).is_file()).collect::<String>();
        worker.forget_old(400);
        assert_eq!(left(), "abcd");
        worker.forget_old(399);
        assert_eq!(left(), "c");
        // What was used is newer, and what a judge uses stays.
        for (text, seconds) in [("a", 1), ("b", 2), ("d", 3), ("e", 4)] {
            write(text, seconds);
        }
        assert!(worker.cached("a").is_some() && worker.cached("x").is_none());
        let judge = compiler(true);
        assert!(judge.cached("b").is_some());
        File::open(worker.kept("b")).unwrap().set_modified(UNIX_EPOCH).unwrap();
        worker.forget_old(499);
        assert_eq!(left(), "ab");
        drop(judge);
        write("c", 1);
        worker.forget_old(299);
        assert_eq!(left(), "a");
        // What is used, or written anew, after the files were listed stays.
        write("b", 1);
        write("c", 2);
        let listed = worker.files();
        assert!(worker.cached("b").is_some());
        fs::remove_file(worker.kept("c")).unwrap();
        write("c", 3);
        Compiler::delete_oldest(listed, 0);
        assert_eq!(left(), "bc");
    }

    #[cfg(unix)]
    #[test]
    fn a_judge_holds_the_file_that_the_path_leads_to() {
        use std::time::UNIX_EPOCH;
        let root = tempfile::tempdir().unwrap();
        let judge = Compiler { locked: true, ..Compiler::empty(root.path(), 0, String::new(), false) };
        let kept = judge.kept("a");
        cuda_builder::write_whole(&kept, "1").unwrap();
        let deleted = File::open(&kept).unwrap();
        deleted.set_modified(UNIX_EPOCH).unwrap();
        deleted.lock().unwrap();
        std::thread::scope(|scope| {
            let found = scope.spawn(|| judge.cached("a"));
            // By now it has opened the file, and waits for the lock.
            while deleted.metadata().unwrap().modified().unwrap() == UNIX_EPOCH {
                std::thread::yield_now();
            }
            cuda_builder::write_whole(&kept, "2").unwrap();
            deleted.unlock().unwrap();
            assert_eq!(found.join().unwrap(), Some(kept.clone()));
        });
        assert!(matches!(File::open(&kept).unwrap().try_lock(), Err(std::fs::TryLockError::WouldBlock)));
    }
}
