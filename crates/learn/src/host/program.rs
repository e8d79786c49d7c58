//! A student's host code as a program: compiled against the [`HostLibrary`], with the exercise's
//! `main.rs`, and run as a child process on the simulator's driver.
//!
//! | process | reads | writes |
//! | --- | --- | --- |
//! | rustc and the linker | the toolchain, the libraries, the system's | the folder of the program |
//! | the program | its folder, the driver, the system's libraries | two files: results and record |
//!
//! The folder is the [`Compiler`]'s third one, and is emptied for each file.

use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use coalesce_driver::host::HostRecord;
use cuda_builder::CudaBuilderError;
use exercise::Exercise;
use exercise::SOURCE;
use exercise::data::{Buffers, Sizes};
use sandbox::Sandbox;
use serde::{Deserialize, Serialize};

use super::library::{HostLibrary, host_library};
use crate::compile::Compiler;
use crate::diagnostics;
use crate::error::{Error, Result};
use crate::process::{self, Runner};
use crate::programs::Kind;
use crate::start;

/// How long one run of a program may take.
const LONGEST: Duration = Duration::from_secs(60);
/// The memory of the simulated device.
const DEVICE_MEMORY: u64 = 1 << 30;
/// The longest results and the longest record that are read.
const MOST_READ: u64 = 256 << 20;

/// A compiled program.
pub struct Program<'a> {
    exercise: &'a Exercise,
    compiler: &'a Compiler,
    folder: PathBuf,
    driver: &'a Path,
    kernels: PathBuf,
}

/// How a run ended.
pub enum Ran {
    /// In order, with these results, by name.
    Well { results: Buffers, record: Box<HostRecord>, said: String },
    /// With an error: what, and what the program printed.
    Badly { what: String, said: String },
    /// The time was up.
    TooLong,
}

/// What programs are compiled and run with.
#[derive(Debug, Deserialize, Serialize)]
pub struct Tools {
    library: HostLibrary,
    /// The driver that runs on the simulator.
    driver: PathBuf,
    /// The C compiler that links.
    linker: PathBuf,
    /// The folders of its programs.
    folders: Vec<PathBuf>,
}

impl Tools {
    /// Finds them. cargo compiles the library first if it is new.
    ///
    /// # Errors
    ///
    /// Those of [`host_library`]; [`Error::Usage`] where there is no driver or no linker.
    pub fn find(root: &Path, announces: bool, runner: Runner) -> Result<Self> {
        let (linker, folders) = linker()?;
        let driver = coalesce_driver::installed::library(&crate::programs::own_program()).ok_or_else(|| {
            Error::Usage("the simulator's driver is not beside this program: run `cargo build -p driver`".to_owned())
        })?;
        Ok(Self { library: host_library(root, announces, runner)?, driver, linker, folders })
    }

    /// What the process that judges host code reads, besides what kernels need.
    pub fn reads(&self) -> Vec<PathBuf> {
        // cargo puts the crate itself above its dependencies.
        let libraries = self.library.folder.parent().unwrap_or(&self.library.folder).to_owned();
        self.folders.iter().cloned().chain([self.driver.clone(), libraries]).collect()
    }
}

/// The C compiler that links, and the folders of its programs.
fn linker() -> Result<(PathBuf, Vec<PathBuf>)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("cc")).filter(|file| file.is_file());
    let lacks = || Error::Usage("host exercises need a C compiler to link with, `cc`: install gcc or clang".to_owned());
    let cc = found.next().ok_or_else(lacks)?;
    let real = fs::canonicalize(&cc).map_err(Error::reading(&cc))?;
    let beside = [&cc, &real].map(|file| file.parent().unwrap_or(Path::new("/")).to_owned());
    let others = ["/bin", "/usr/bin", "/usr/libexec", "/etc/alternatives"].map(PathBuf::from);
    Ok((cc, beside.into_iter().chain(others).collect()))
}

impl<'a> Program<'a> {
    /// Compiles a text. What is wrong with it is `Err`.
    ///
    /// # Errors
    ///
    /// [`Error`] for what is not the text's fault.
    pub fn compile(
        exercise: &'a Exercise,
        compiler: &'a Compiler,
        (text, kernels): (&str, PathBuf),
    ) -> Result<std::result::Result<Self, String>> {
        let Tools { library, driver, linker, folders } = compiler.host()?;
        let folder = compiler.program_folder();
        let _ = fs::remove_dir_all(&folder);
        let main = exercise.main_file();
        let main = fs::read_to_string(&main).map_err(Error::reading(&main))?;
        fs::create_dir_all(folder.join("src")).map_err(Error::writing(&folder))?;
        let main = format!("{main}\n#[path = \"kernel.rs\"]\nmod host;\n");
        for (name, text) in [("src/main.rs", main.as_str()), (SOURCE, text)] {
            let file = folder.join(name);
            fs::write(&file, text).map_err(Error::writing(&file))?;
        }
        let mut rustc = Command::new(&library.rustc);
        rustc.args(["--crate-name=host_exercise", "--edition=2024", "--crate-type=bin", "src/main.rs"]);
        rustc.args(["--error-format=json", "--json=diagnostic-rendered-ansi", "-Awarnings", "-Cdebuginfo=0"]);
        rustc.args(["--out-dir=.", "-L"]).arg(format!("dependency={}", library.folder.display()));
        library.externs.iter().for_each(|name| _ = rustc.arg("--extern").arg(name));
        rustc.arg(format!("-Clinker={}", linker.display())).current_dir(&folder);
        let path = std::env::join_paths(folders).unwrap_or_else(|_| "/usr/bin:/bin".into());
        rustc.env("PATH", path).env("TMPDIR", &folder);
        let reads = compiler.reads()?.into_iter().chain(compiler.host()?.reads());
        let sandbox = Sandbox::new(reads, [folder.clone()]);
        let runner = compiler.runner();
        let output = runner.compiler(&mut rustc, compiler.is_sandboxed().then_some(&sandbox));
        let output = output.map_err(Error::reading(&library.rustc))?;
        if !output.status.success() {
            let messages = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            let is_error = |line: &str| line.starts_with('{') && line.contains("\"level\":\"error\"");
            if !matches!(output.status.code(), Some(1 | 101)) || !messages.lines().any(is_error) {
                return Err(CudaBuilderError::Tool {
                    tool: "rustc".to_owned(),
                    message: format!("{} ({})", wording::one_line(&messages), output.status),
                    advice: "check that it runs, and that this machine has memory left",
                }
                .into());
            }
            // The exercise's own `main.rs`, and the crate around it.
            let own = ["src/main.rs", "src/lib.rs"].map(PathBuf::from);
            let sources: Vec<PathBuf> = library.sources.iter().cloned().chain(own).collect();
            return Ok(Err(diagnostics::shown(&messages, &sources, compiler.colour())));
        }
        let link = folder.join("libcuda.so.1");
        symlink(driver, &link).map_err(Error::writing(&link))?;
        Ok(Ok(Self { exercise, compiler, folder, driver, kernels }))
    }

    /// Runs the program with these sizes and values.
    ///
    /// # Errors
    ///
    /// [`Error::File`] for the files around it.
    pub fn run(&self, sizes: &Sizes, values: &Buffers, steps: u64, stopped: &dyn Fn() -> bool) -> Result<Ran> {
        let run = self.folder.join("run");
        let _ = fs::remove_dir_all(&run);
        fs::create_dir_all(&run).map_err(Error::writing(&run))?;
        let write = |name: &str, bytes: &[u8]| {
            let file = run.join(name);
            fs::write(&file, bytes).map(|()| file.clone()).map_err(Error::writing(&file))
        };
        let lines: String = sizes.iter().map(|(name, size)| format!("{name} {size}\n")).collect();
        write("sizes", lines.as_bytes())?;
        let kernels = fs::read(&self.kernels).map_err(Error::reading(&self.kernels))?;
        write("kernels.ptx", &kernels)?;
        for (name, plan) in &self.exercise.goals.data {
            if !plan.output {
                write(&format!("{name}.data"), &values[name])?;
            }
        }
        let results = write("results", b"")?;
        let key = key();
        let record = write("record", key.as_bytes())?;
        let sandbox = Sandbox::new([self.folder.clone(), self.driver.to_owned()], [results.clone(), record.clone()]);
        let mut command = Command::new(self.folder.join("host_exercise"));
        command.current_dir(&run).env("LD_LIBRARY_PATH", &self.folder).env("COALESCE_HOST_RECORD", &record);
        let faults = self.exercise.goals.driver.faults;
        for (name, value) in [
            ("COALESCE_CHECK", "memory,init"),
            ("COALESCE_PREDICT", "always"),
            ("COALESCE_FAULT", if faults { "defer" } else { "stop" }),
            ("COALESCE_MEMORY", &DEVICE_MEMORY.to_string()),
            ("COALESCE_STEPS", &steps.to_string()),
        ] {
            command.env(name, value);
        }
        let (ended, said) = self.child(&command, &sandbox, stopped)?;
        let Some(status) = ended else { return Ok(Ran::TooLong) };
        let badly = |what: String| Ok(Ran::Badly { what, said: said.clone() });
        if !status.success() {
            return badly(ending(status));
        }
        let read = |file: &Path| -> Result<Vec<u8>> {
            let length = fs::metadata(file).map_err(Error::reading(file))?.len();
            if length > MOST_READ { Ok(Vec::new()) } else { fs::read(file).map_err(Error::reading(file)) }
        };
        let record = serde_json::from_slice::<HostRecord>(&read(&record)?).ok().filter(|record| record.key == key);
        let Some(record) = record else {
            return badly("the program ended before the driver could write its record".to_owned());
        };
        match parts(&read(&results)?) {
            Some(results) => Ok(Ran::Well { results, record: Box::new(record), said }),
            None => badly("the program ended before it handed in its results".to_owned()),
        }
    }

    /// Runs the program to its end: how it ended, or `None` if it took too long, and what it
    /// printed.
    fn child(
        &self,
        command: &Command,
        sandbox: &Sandbox,
        stopped: &dyn Fn() -> bool,
    ) -> Result<(Option<ExitStatus>, String)> {
        let kind = Kind::Native(self.compiler.is_sandboxed().then_some(sandbox));
        let mut start = start::started(command, kind);
        start.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = Error::reading(&self.folder);
        let began = Instant::now();
        let mut run = || -> io::Result<_> {
            let mut child = start.spawn()?;
            let stdout = child.stdout.take().map(|pipe| process::begin(pipe, kind));
            let stderr = child.stderr.take().map(|pipe| process::begin(pipe, kind));
            let status = process::wait(&mut child, || stopped() || began.elapsed() >= LONGEST);
            if !matches!(status, Ok(Some(_))) {
                process::end(&mut child);
            }
            let mut said = String::new();
            for reader in [stdout, stderr].into_iter().flatten() {
                said += &String::from_utf8_lossy(&reader.join().expect("it does not panic")?);
            }
            Ok((status?, without_folders(&said)))
        };
        run().map_err(failed)
    }
}

/// A program's output without the folders of its libraries: a panic in a library prints the full
/// path of the source file. Students see the path within the library only.
fn without_folders(said: &str) -> String {
    let shown = |line: &str| {
        let end = |folder: &str| line.find(folder).map(|at| at + folder.len());
        match ["/lib/rustlib/src/rust/", "/registry/src/"].into_iter().find_map(end) {
            Some(end) => {
                let before = line[..end].trim_end_matches(|c: char| !c.is_whitespace());
                format!("{before}{}", &line[end..])
            }
            None => line.to_owned(),
        }
    };
    said.split_inclusive('\n').map(shown).collect()
}

/// A number that no program knows before.
fn key() -> String {
    // The keys of hashers come from the system's random numbers, which need no file.
    (0..4).map(|number: u64| format!("{:016x}", RandomState::new().hash_one(number))).collect()
}

/// How a program ended that did not end well.
fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(1), _) => "your function returned an error".to_owned(),
        (Some(101), _) => "your program panicked".to_owned(),
        (_, Some(libc::SIGXCPU)) => "your program took more processor time than a program may".to_owned(),
        (_, Some(libc::SIGSEGV)) => "your program accessed memory that it does not have".to_owned(),
        _ => format!("your program ended with {status}"),
    }
}

/// The results in a file: a line with name and length before the bytes of each.
fn parts(mut bytes: &[u8]) -> Option<Buffers> {
    let mut all = Buffers::new();
    while !bytes.is_empty() {
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        let line = std::str::from_utf8(&bytes[..end]).ok()?;
        let (name, length) = line.split_once(' ')?;
        let length: usize = length.parse().ok()?;
        let part = bytes.get(end + 1..)?.get(..length)?;
        all.insert(name.to_owned(), part.to_vec());
        bytes = &bytes[end + 1 + length..];
    }
    (!all.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::{parts, without_folders};

    #[test]
    fn a_panic_does_not_name_this_machines_folders() {
        for (said, wanted) in [
            (
                "thread 'main' panicked at /home/a/.rustup/lib/rustlib/src/rust/library/std/src/thread.rs:7:\nmore\n",
                "thread 'main' panicked at library/std/src/thread.rs:7:\nmore\n",
            ),
            (
                "at /home/b/.cargo/registry/src/index-1/cust-0.3.2/src/error.rs:7",
                "at index-1/cust-0.3.2/src/error.rs:7",
            ),
            ("/x/y\r\n\n  z", "/x/y\r\n\n  z"),
        ] {
            assert_eq!(without_folders(said), wanted);
        }
    }

    #[test]
    fn results_are_read_whole_or_not_at_all() {
        let read = parts(b"a 2\nxyb 3\n\n\n\n").unwrap();
        assert_eq!((read["a"].as_slice(), read["b"].as_slice()), (&b"xy"[..], &b"\n\n\n"[..]));
        for wrong in [
            &b""[..],
            b"a",
            b"a 2\nx",
            b"a -1\n",
            b"a 99999999999999999999\n",
            b"\xff 1\nx",
            b"a18446744073709551615\n",
        ] {
            assert!(parts(wrong).is_none(), "{wrong:?}");
        }
    }
}
