//! `coalesce judge`: one verdict on a candidate that shall do what a reference does.
//!
//! Data goes one way: files -> a request -> a process apart, which runs the candidate and writes a
//! [`Verdict`] as JSON -> text or JSON.
//!
//! | file | contents |
//! | --- | --- |
//! | `contract`, `element`, `sizes` | what a PTX kernel takes; numbers of each type; which sizes are tried |
//! | `kernels`, `modules` | judges PTX; finds it in files |
//! | `python` | judges Python, with the script `_judge.py` of the Python package |
//! | `explain` | where a candidate's cost arises |
//! | `confined` | processes apart, with limits and in the sandbox that `cargo learn grade` has |
//! | `verdict` | the verdict and its text |
//!
//! The JSON has the fields of [`Verdict`]: `"verdict"` (`right`, `wrong`, `refused`), `"problems"`
//! with `{"rule", "trick", "text", "sizes"}`, the `"sizes"` that were tried and those of
//! `"right_at"`, `"calls"` and `"orders"`, `"kernels"` of both sides with counters by the names of
//! goals, and `"sure"`, which says how sure result, counters and time are.
//!
//! *Invariants:* a fault of the candidate is a verdict, never an error of the program; one of the
//! reference or the contract is an error. The same files and seed give the same verdict everywhere.

mod confined;
mod contract;
mod element;
mod explain;
mod kernels;
mod modules;
mod python;
mod sizes;
mod verdict;

use std::ffi::OsString;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use simt::Model;

use confined::Ended;
use contract::{Contract, Side};
use kernels::Request;
pub use python::{ConfinedOptions, become_confined};
use verdict::Verdict;

/// What the process apart says before a side runs: if it is killed, that side is to blame.
const REFERENCE: &str = "judging the reference";
const CANDIDATE: &str = "judging the candidate";

/// Judge a candidate by a reference: is it right, and what does it cost?
///
/// The candidate is called with drawn data at drawn and awkward sizes, with all checks and in other
/// orders of blocks and warps, in a process apart. Exit code: 0 if it is right, 1 if it is wrong or
/// refused, 2 if the reference or the request is wrong.
#[derive(Args, Debug)]
pub struct Options {
    /// What is right: PTX, a program or library with PTX in it, or a Python file with `inputs(n,
    /// ..., rng)`, whose other parameters are sizes, and `reference(*inputs)` in NumPy
    #[arg(long, value_name = "REF")]
    reference: PathBuf,
    /// What is judged: PTX, a program or library with PTX in it, or a Python file with
    /// `candidate(*inputs, *outputs)`, which launches kernels (numba, Triton) on arrays of the
    /// device
    #[arg(long, value_name = "NEW")]
    candidate: PathBuf,
    /// The sizes, arguments and launches of PTX kernels: see docs/CI.md
    #[arg(long, value_name = "FILE.toml")]
    contract: Option<PathBuf>,
    /// Draw sizes, data and orders from this number [default: another each time, so that no
    /// candidate can know them]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// How many combinations of sizes to try; the last has the largest of each
    #[arg(long, value_name = "NUMBER", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1000))]
    cases: u32,
    /// How many other orders of blocks and warps to try, of some of these
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u32).range(..=1000))]
    schedules: u32,
    /// The GPU whose time is predicted
    #[arg(long, value_name = "MODEL", default_value = "hopper")]
    model: String,
    /// Add the candidate's lines, the costliest first, with pictures of their accesses
    #[arg(long)]
    explain: bool,
    /// The Python for Python files
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// The format of the verdict
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text")]
    format: Format,
    #[command(flatten)]
    limits: confined::Limits,
    /// This is the process apart
    #[arg(long, hide = true)]
    confined: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Judges. Returns the exit code.
pub fn main(options: &Options) -> Result<u8, String> {
    if options.confined {
        let verdict = one(options)?;
        crate::run::print(&serde_json::to_string(&verdict).map_err(|error| error.to_string())?)?;
        return Ok(0);
    }
    let verdict = verdict(options, options.seed.unwrap_or_else(some_seed))?;
    let text = match options.format {
        Format::Text => verdict.text(),
        Format::Json => serde_json::to_string_pretty(&verdict).map_err(|error| error.to_string())? + "\n",
    };
    crate::run::print(&text)?;
    Ok(verdict.code())
}

/// The verdict, of a process apart.
fn verdict(options: &Options, seed: u64) -> Result<Verdict, String> {
    model(options)?;
    match [&options.reference, &options.candidate].map(|file| ends_in(file, "py")) {
        [true, true] => return python::judge(options, seed),
        [false, false] => {}
        _ => return Err("--reference and --candidate: give two Python files, or two with PTX".to_owned()),
    }
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).chain(["--confined".into()]).collect();
    if options.seed.is_none() {
        arguments.push(format!("--seed={seed}").into());
    }
    let ended = confined::own_program(arguments, &options.limits)?;
    match ended {
        Ended::Said(text) => {
            serde_json::from_str(&text).map_err(|error| format!("the process that judges wrote no verdict: {error}"))
        }
        Ended::Failed(message) => Err(message),
        Ended::Killed(why, said) if !said.trim_end().ends_with(CANDIDATE) => Err(format!("the reference: {why}")),
        Ended::Killed(why, _) => {
            let mut verdict = Verdict {
                reference: options.reference.display().to_string(),
                candidate: options.candidate.display().to_string(),
                seed,
                ..Verdict::default()
            };
            verdict.add("resources", false, why, None);
            verdict.complete(&options.model);
            Ok(verdict)
        }
    }
}

/// Judges in this process, which confines itself once it has read its files.
fn one(options: &Options) -> Result<Verdict, String> {
    let model = model(options)?;
    let (reference, candidate) = (read(&options.reference)?, read(&options.candidate)?);
    let file =
        options.contract.as_ref().ok_or("--contract FILE.toml: PTX needs one, which says what the kernel takes")?;
    let text = String::from_utf8_lossy(&read(file)?).into_owned();
    let contract = Contract::parse(&text).map_err(|why| format!("{}: {why}", file.display()))?;
    confined::enter(&options.limits)?;
    kernels::judge(&Request {
        contract: &contract,
        reference: (&options.reference, &reference),
        candidate: (&options.candidate, &candidate),
        seed: options.seed.unwrap_or_default(),
        cases: options.cases as usize,
        schedules: options.schedules.into(),
        model,
        explains: options.explain,
        begins: &|side| match side {
            Side::Reference => eprintln!("{REFERENCE}"),
            Side::Candidate => eprintln!("{CANDIDATE}"),
        },
    })
}

fn model(options: &Options) -> Result<&'static Model, String> {
    let model = Model::named(&options.model).filter(|model| model.timing().is_some());
    model.ok_or_else(|| {
        let timed = Model::all().iter().filter(|model| model.timing().is_some());
        let names: Vec<&str> = timed.map(|model| model.name).collect();
        format!("--model: there is no '{}'; there are {}", options.model, names.join(", "))
    })
}

/// A seed that nobody knows before: the standard library's hashes have one. JSON holds 32 bits
/// everywhere.
fn some_seed() -> u64 {
    RandomState::new().build_hasher().finish() >> 32
}

/// What a file holds. Devices are refused: some never end.
fn read(file: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    match std::fs::metadata(file).map_err(failed)?.is_file() {
        true => std::fs::read(file).map_err(failed),
        false => Err(format!("{}: this is no file", file.display())),
    }
}

fn ends_in(file: &Path, ending: &str) -> bool {
    file.extension().is_some_and(|own| own == ending)
}
