//! Twenty regressions in ten kernels, each planted as a change of a few lines: `coalesce run
//! --baseline` and `coalesce compare` name every one of them by its counter, and let ten harmless
//! changes pass. `coalesce judge` says that all thirty still compute the same.
//!
//! `kernels/*.ptx` has the kernels, how they are launched, and the changes.
#![cfg(target_os = "linux")]

mod launch;
mod planted;

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use planted::{Change, Kernel, Planted, kernels};

fn coalesce(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coalesce"));
    command.args(arguments);
    command
}

/// `coalesce run` of this test as the program that launches a kernel. Returns the report, what is
/// said as errors, and the exit code.
fn run(flags: &[&str], ptx: &Path) -> (Value, String, Option<i32>) {
    let test = std::env::current_exe().expect("a path");
    let report = ptx.with_extension("report.json");
    let mut command = coalesce(&["run", "--format", "json", "--output"]);
    command.arg(&report).args(flags).arg("--").arg(test).args(["the_program_that_is_run", "--exact"]);
    let output = command.env(launch::PTX, ptx).output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let text = std::fs::read(&report).unwrap_or_else(|error| panic!("{error}: {errors}"));
    (serde_json::from_slice(&text).expect("JSON"), errors, output.status.code())
}

/// Not a test, unless a test of this file runs it.
#[test]
fn the_program_that_is_run() {
    let Some(ptx) = std::env::var_os(launch::PTX) else { return };
    let text = std::fs::read_to_string(&ptx).expect("PTX");
    assert_eq!(launch::launch(&Kernel::of("the kernel", &text)), Ok(()));
}

/// A kernel's text in a file, and what it counts in another.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new(kernel: &Kernel) -> Self {
        let bench = Self { folder: tempfile::tempdir().expect("a folder") };
        bench.write("before.ptx", &kernel.text);
        let flags = ["--check", "all", "--predict", "--save-baseline", &bench.path("before.json")];
        let (_, errors, code) = run(&flags, &bench.folder.path().join("before.ptx"));
        assert_eq!(code, Some(0), "{}: {errors}", kernel.name);
        bench
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("UTF-8").to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).expect("a file");
    }

    /// What rose by a change: as `--baseline` says, and as `compare` does, with both exit codes. Each
    /// is in the error, and has the lines that it is blamed on.
    fn worse(&self, after: &str) -> (Vec<String>, [Option<i32>; 2]) {
        self.write("after.ptx", after);
        let path = self.folder.path().join("after.ptx");
        let [before, saved] = ["before.json", "after.json"].map(|name| self.path(name));
        let (report, errors, code) = run(&["--predict", "--baseline", &before, "--save-baseline", &saved], &path);
        let compared = coalesce(&["compare", &before, &saved, "--format", "json"]).output().expect("it runs");
        let worse = counters(&report["baseline"]);
        assert_eq!(worse, counters(&printed(&compared)));
        assert!(worse.iter().all(|counter| errors.contains(&format!(": {counter} rose from "))), "{errors}");
        (worse, [code, compared.status.code()])
    }

    /// Whether a change computes the same, on random data in all orders.
    fn is_right(&self, kernel: &Kernel) -> Value {
        self.write("contract.toml", &kernel.contract());
        let [before, after, contract] = ["before.ptx", "after.ptx", "contract.toml"].map(|name| self.path(name));
        let given = ["judge", "--reference", &before, "--candidate", &after, "--contract", &contract];
        let mut command = coalesce(&given);
        command.args(["--cases", "1", "--seed", "1", "--format", "json"]);
        if sandbox::missing().is_some() {
            command.arg("--no-sandbox");
        }
        printed(&command.output().expect("it runs"))
    }
}

fn printed(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

/// The counters that are worse and have lines.
fn counters(compared: &Value) -> Vec<String> {
    let changes = compared["changes"].as_array().expect("changes");
    let worse = changes.iter().filter(|change| change["verdict"] == "worse");
    let blamed = worse.filter(|change| change["lines"].as_array().is_some_and(|lines| !lines.is_empty()));
    blamed.filter_map(|change| change["counter"].as_str()).map(str::to_owned).collect()
}

#[test]
fn every_planted_regression_is_named_and_harmless_changes_pass() {
    let kernels = kernels();
    let count =
        |wanted: fn(&Planted) -> bool| kernels.iter().flat_map(|it| &it.changes).filter(|it| wanted(&it.kind)).count();
    let planted = count(|kind| matches!(kind, Planted::Regression(_)));
    assert_eq!((kernels.len(), planted, count(|kind| *kind == Planted::Refactoring)), (10, 20, 10));
    let mut missed = Vec::new();
    for kernel in &kernels {
        let bench = Bench::new(kernel);
        for change @ Change { what, kind, .. } in &kernel.changes {
            let (worse, codes) = bench.worse(&kernel.changed(change));
            let is_named = match kind {
                Planted::Regression(counter) => worse.contains(counter) && codes == [Some(1); 2],
                Planted::Refactoring => worse.is_empty() && codes == [Some(0); 2],
            };
            let verdict = bench.is_right(kernel);
            if !is_named || verdict["verdict"] != "right" {
                missed.push(format!("{}, {what}: {codes:?} {worse:?} {}", kernel.name, verdict["problems"]));
            }
        }
    }
    assert_eq!(missed, [""; 0]);
}
