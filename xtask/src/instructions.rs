//! `cargo xtask instructions`: counts the processor's instructions for some runs of the simulator,
//! under Valgrind, and compares them with those in `measurements/instructions.json`. A count has no
//! noise, so that a change of a few percent is seen on any machine, however busy; times are in
//! `measurements/speed.md`.
//!
//! The programs are those of `cargo test`: built without `--release`, with the simulator optimised.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::program::{Error, output, sibling, succeed};
use crate::records;
use crate::workspace;

/// Options of the chore.
#[derive(Debug, Args)]
pub struct Options {
    /// Write nothing; fail if a run takes at least 3 % more instructions than recorded.
    #[arg(long)]
    check: bool,
}

/// Where the counts are, in the workspace.
const FILE: &str = "measurements/instructions.json";

/// How far a count may rise: another C library's copies, and the random order of hash tables, stay
/// well below.
const MAY_RISE: f64 = 1.03;

/// What is counted: a name, and the arguments of `host`. Each goes through another part of the
/// simulator.
const RUNS: [(&str, &str); 7] = [
    ("a PTX file is read", "check kernels/ptx/kernels.sm_75.ptx"),
    ("counts", "transpose --padded --rows 1024 --no-predict --device sim"),
    ("arithmetic", "matmul --tiled32 --m 128 --n 128 --k 128 --no-predict --device sim"),
    ("shuffles and barriers", "reduce --reduce5 --reduce6 --size 262144 --no-predict --device sim"),
    ("checks", "transpose --padded --rows 512 --no-predict --device sim --check all"),
    ("caches", "transpose --padded --rows 512 --no-predict --device sim:turing"),
    ("predicted times", "transpose --padded --rows 1024 --device sim"),
];

/// The counts, and what they depend on.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Counts {
    /// The compiler of the programs, as `rustc --version` prints it.
    compiler: String,
    runs: Vec<Count>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Count {
    name: String,
    command: String,
    instructions: u64,
}

/// Counts, and compares with the record or writes it.
///
/// # Errors
///
/// What went wrong, and what to do; with `--check`, each run that takes more instructions.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let path = root.join(FILE);
    let recorded: Counts = if path.exists() || options.check { records::read(&path)? } else { Counts::default() };
    let compiler = succeed(Command::new("rustc").arg("--version"))?.trim().to_owned();
    let host = sibling("host")?;
    let mut counts = Counts { compiler, runs: Vec::new() };
    for (name, command) in RUNS {
        let instructions = count(&root, &host, command)?;
        println!("{}", line(name, instructions, recorded.of(command)));
        counts.runs.push(Count { name: name.into(), command: command.into(), instructions });
    }
    if !options.check {
        return records::save(&counts, 2, &path);
    }
    if recorded.compiler != counts.compiler {
        println!(
            "note: recorded with {}, and this is {}: nothing is compared; `cargo xtask instructions` records anew",
            recorded.compiler, counts.compiler
        );
        return Ok(());
    }
    match counts.risen(&recorded) {
        risen if risen.is_empty() => Ok(()),
        risen => Err(Error::Instructions { risen }),
    }
}

/// The instructions of one run, on one thread.
fn count(root: &Path, host: &Path, arguments: &str) -> Result<u64, Error> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    valgrind.arg(host).args(arguments.split(' ')).current_dir(root).env("RAYON_NUM_THREADS", "1");
    let said = output(&mut valgrind)?;
    let stderr = String::from_utf8_lossy(&said.stderr);
    total(&stderr).ok_or_else(|| crate::program::Failed::of(&valgrind, "it prints no count of instructions").into())
}

/// The total that Valgrind prints: `==123== I   refs:      141,825,199`.
fn total(stderr: &str) -> Option<u64> {
    let line = stderr.lines().find(|line| line.contains("refs:") && line.contains(" I "))?;
    line.rsplit(' ').next()?.replace(',', "").parse().ok()
}

/// One run's line of the table.
fn line(name: &str, instructions: u64, recorded: Option<u64>) -> String {
    let mut line = format!("{name:<22} {:>7.1} million instructions", instructions as f64 / 1e6);
    if let Some(recorded) = recorded {
        let _ = write!(line, ", {:+.1} %", (instructions as f64 / recorded as f64 - 1.0) * 100.0);
    }
    line
}

impl Counts {
    /// The count of a command.
    fn of(&self, command: &str) -> Option<u64> {
        self.runs.iter().find(|run| run.command == command).map(|run| run.instructions)
    }

    /// The runs that take too many instructions, and those that are not recorded, in one line.
    fn risen(&self, recorded: &Self) -> String {
        let risen = self.runs.iter().filter_map(|run| match recorded.of(&run.command) {
            None => Some(format!("{} is not recorded", run.name)),
            Some(before) => {
                let ratio = run.instructions as f64 / before as f64;
                (ratio >= MAY_RISE).then(|| format!("{} takes {:.1} % more", run.name, (ratio - 1.0) * 100.0))
            }
        });
        risen.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(instructions: &[u64]) -> Counts {
        let run = |(index, &instructions): (usize, &u64)| Count {
            name: format!("run {index}"),
            command: index.to_string(),
            instructions,
        };
        Counts { compiler: String::new(), runs: instructions.iter().enumerate().map(run).collect() }
    }

    #[test]
    fn the_total_is_found_among_what_valgrind_and_the_program_print() {
        let said = "==1== Cachegrind\nnote: I am host\n==1== \n==1== I   refs:      141,825,199\n";
        assert_eq!(total(said), Some(141_825_199));
        assert_eq!(total("==1== I refs:        1,005\n"), Some(1005));
        assert_eq!(total("nothing"), None);
    }

    #[test]
    fn what_takes_three_percent_more_is_named_and_what_is_new() {
        let before = counts(&[1000, 1000, 1000]);
        assert_eq!(counts(&[1029, 900, 1000]).risen(&before), "");
        assert_eq!(counts(&[1030, 900, 1000]).risen(&before), "run 0 takes 3.0 % more");
        assert_eq!(counts(&[1, 1, 2000, 5]).risen(&before), "run 2 takes 100.0 % more, run 3 is not recorded");
    }

    #[test]
    fn the_record_has_each_run_once() {
        let path = workspace::root().unwrap().join(FILE);
        let recorded: Counts = records::read(&path).unwrap();
        let commands: Vec<&str> = recorded.runs.iter().map(|run| run.command.as_str()).collect();
        assert_eq!(commands, RUNS.map(|(_, command)| command));
    }
}
