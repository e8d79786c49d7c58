//! Shared by the chores that measure: their options and errors, the programs that they run, and
//! what these report of the machine. Runs programs and writes nothing.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::records;
use crate::workspace::NotInWorkspace;

/// The options of a chore that measures on a GPU and writes a document about it.
#[derive(Debug, clap::Args)]
pub struct MeasureOptions {
    /// Run the labs on this machine's GPU first; otherwise the document is written from the last
    /// measurements.
    #[arg(long)]
    pub measure: bool,
    /// Write nothing; fail if the document does not match the measurements.
    #[arg(long, conflicts_with = "measure")]
    pub check: bool,
    /// The program, built with `cargo build --release -p host`.
    #[arg(long, value_name = "FILE", default_value = "target/release/host")]
    pub host: PathBuf,
    /// Measure only this lab, and keep the other numbers.
    #[arg(long, value_name = "LAB", requires = "measure")]
    pub only: Option<String>,
}

impl MeasureOptions {
    /// The last measurements, before a new one replaces some of them.
    ///
    /// # Errors
    ///
    /// If there are none, and none are made now; or if the file cannot be read.
    pub fn last<T: DeserializeOwned + Default>(&self, path: &Path) -> Result<T, Error> {
        match path.exists() {
            true => records::read(path),
            false if self.measure => Ok(T::default()),
            false => Err(file(path, "there are no measurements; measure with --measure")),
        }
    }
}

/// Why a chore that measures failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    NotInWorkspace(#[from] NotInWorkspace),
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: String },
    #[error(transparent)]
    Run(#[from] Failed),
    #[error(transparent)]
    Write(#[from] cuda_builder::CudaBuilderError),
    #[error("{document} does not match the measurements: run `cargo xtask {chore}`")]
    Stale { document: &'static str, chore: &'static str },
    #[error("there is no nvcc in PATH or /usr/local/cuda/bin: name one with --nvcc, or what it made with --library")]
    NoCompiler,
    #[error("--only {lab}: nothing of this lab is compared; choose one of {known}")]
    NoSuchLab { lab: String, known: String },
    #[error("ncu does not count `host {run}`: {problem}")]
    Count { run: String, problem: String },
    #[error("more instructions than recorded: {risen}; if that is worth it, record with `cargo xtask instructions`")]
    Instructions { risen: String },
}

/// The error of a file that cannot be read, written or understood.
pub fn file(path: &Path, problem: impl ToString) -> Error {
    Error::File { path: path.to_owned(), problem: problem.to_string() }
}

/// The error of a command that failed.
#[derive(Debug, thiserror::Error)]
#[error("`{command}` failed: {problem}")]
pub struct Failed {
    /// The command line.
    pub command: String,
    /// Why, in one line.
    pub problem: String,
}

impl Failed {
    /// The error of this command, for this reason.
    pub fn of(command: &Command, problem: impl ToString) -> Self {
        let arguments: Vec<_> = std::iter::once(command.get_program()).chain(command.get_args()).collect();
        let command = arguments.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join(" ");
        Self { command, problem: problem.to_string() }
    }
}

/// The machine, the tools and the date.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Machine {
    pub device: String,
    pub driver: String,
    pub cuda: String,
    pub nvcc: String,
    pub date: String,
}

/// Describes this machine. Without a compiler its release is empty.
///
/// # Errors
///
/// When the program or the compiler fails.
pub fn machine(nvcc: Option<&Path>, host: &Path) -> Result<Machine, Failed> {
    let device = &devices(host)?[0];
    let version = nvcc.map(|nvcc| succeed(Command::new(nvcc).arg("--version"))).transpose()?.unwrap_or_default();
    let release = version.split("release ").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or_default();
    let date = succeed(Command::new("date").arg("+%F"))?;
    Ok(Machine {
        device: text(&device["name"]),
        driver: text(&device["driver"]),
        cuda: text(&device["cuda_version"]),
        nvcc: release.to_owned(),
        date: date.trim().to_owned(),
    })
}

/// The GPU's properties, as `host devices` reports them: a list of one.
///
/// # Errors
///
/// When the program fails.
pub fn devices(host: &Path) -> Result<Value, Failed> {
    let devices = succeed(Command::new(host).args(["devices", "--device", "gpu", "--format", "json"]))?;
    Ok(serde_json::from_str(&devices).unwrap_or_default())
}

/// The JSON that a command prints.
///
/// # Errors
///
/// As [`succeed`], or if it is no JSON.
pub fn json(command: &mut Command) -> Result<Value, Failed> {
    let printed = succeed(command)?;
    serde_json::from_str(&printed).map_err(|problem| Failed::of(command, problem))
}

/// Does some work of a chore, and prints how long it took.
pub fn timed<T, E>(what: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let begin = Instant::now();
    let done = work()?;
    println!("{what}: {:.1} s", begin.elapsed().as_secs_f64());
    Ok(done)
}

/// The lab that a command of the program runs.
pub fn lab(arguments: &str) -> &str {
    arguments.split(' ').next().unwrap_or_default()
}

/// Half the distance between the quartiles of a row of a report, in percent of its time.
pub fn spread_percent(row: &Value) -> Option<f64> {
    let quartile = |name: &str| row["timing"][name].as_f64();
    let (lower, upper) = (quartile("time_lower_quartile_ms")?, quartile("time_upper_quartile_ms")?);
    Some((upper - lower) / 2.0 / row["time_ms"].as_f64()? * 100.0)
}

/// Runs a command and returns what it printed.
///
/// # Errors
///
/// If it does not start or fails, with the last line of its standard error.
pub fn succeed(command: &mut Command) -> Result<String, Failed> {
    Ok(String::from_utf8_lossy(&output(command)?.stdout).into_owned())
}

/// Runs a command and returns what it printed on both streams.
///
/// # Errors
///
/// As [`succeed`].
pub fn output(command: &mut Command) -> Result<Output, Failed> {
    let output = command.output().map_err(|problem| Failed::of(command, problem))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failed::of(command, said.lines().last().unwrap_or("it printed nothing")))
}

/// Where cargo builds a workspace: as its environment (`CARGO_TARGET_DIR`) and configuration say.
///
/// # Errors
///
/// If cargo does not say it.
pub fn target(root: &Path) -> Result<PathBuf, Failed> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(root);
    let metadata: Value = serde_json::from_str(&succeed(&mut cargo)?).unwrap_or_default();
    Ok(metadata["target_directory"].as_str().map_or_else(|| root.join("target"), PathBuf::from))
}

/// A program of this workspace, which cargo builds, beside this one.
///
/// # Errors
///
/// As [`built`].
pub fn sibling(package: &str) -> Result<PathBuf, Failed> {
    built(package, &[])
}

/// The setting by which a class stays root's, if root owns this folder, which this program has made.
pub fn user_of_class(own: &Path) -> &'static str {
    #[cfg(unix)]
    if own.metadata().is_ok_and(|of| std::os::unix::fs::MetadataExt::uid(&of) == 0) {
        return "user = \"root\"\n";
    }
    let _ = own;
    ""
}

/// `learn` with the commands for a class, which cargo builds, beside this one.
///
/// # Errors
///
/// As [`built`].
pub fn learn_with_class() -> Result<PathBuf, Failed> {
    built("learn", &["--features", "class"])
}

/// A package's program beside this one, which cargo builds with these features. With
/// `COALESCE_BUILT` in the environment it is there already: cargo would compile it anew, with the
/// features of its package alone.
///
/// # Errors
///
/// If it does not compile.
fn built(package: &str, features: &[&str]) -> Result<PathBuf, Failed> {
    let own = env::current_exe().unwrap_or_default();
    let program = own.with_file_name(package).with_extension(env::consts::EXE_EXTENSION);
    if env::var_os("COALESCE_BUILT").is_some() && program.is_file() {
        return Ok(program);
    }
    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "-p", package]).args(features).current_dir(env!("CARGO_MANIFEST_DIR"));
    if own.parent().is_some_and(|folder| folder.ends_with("release")) {
        build.arg("--release");
    }
    succeed(&mut build)?;
    Ok(program)
}

/// The elements of a list; empty for anything else.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A string; empty for anything else.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
