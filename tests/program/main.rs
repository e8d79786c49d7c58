//! Tests of the program `host`, run as a user runs it: its output, its files and its exit code.
//!
//! These tests belong to the package `host`, so cargo builds the program before it runs them. They
//! choose the simulator explicitly, so that the result is the same on every machine.

mod bad_input;
mod baselines;
mod best;
mod call;
mod check;
#[cfg(target_os = "linux")]
mod commands_on_gpu;
mod compare;
mod course;
#[cfg(unix)]
mod documents;
mod faults;
mod files;
mod first_screens;
mod formats;
mod goals;
#[cfg(target_os = "linux")]
mod gpu;
mod hostile;
mod inlined;
mod launches;
mod limits;
#[cfg(target_os = "linux")]
mod litmus;
mod manual;
mod models;
mod names;
mod numbers;
mod orders;
#[cfg(target_os = "linux")]
mod peers;
mod pictures;
mod planted;
mod plots;
mod predicted;
mod printing;
mod report;
mod results;
mod run;
#[cfg(target_os = "linux")]
mod run_times;
#[cfg(target_os = "linux")]
mod shapes;
#[cfg(unix)]
mod strange_sources;
mod structs;
mod tensors;
mod textures;
mod time_set;
mod together;
mod unwritten;
mod variables;

use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;

/// Ends what hangs. Nothing that these tests run takes that long, on the busiest machine.
const HANGS: Duration = Duration::from_secs(600);

/// The program with these arguments, separated by white space.
fn host(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
    // What is between single quotes is one argument, as in a shell.
    for (index, part) in arguments.split('\'').enumerate() {
        match index % 2 {
            0 => command.args(part.split_whitespace()),
            _ => command.arg(part),
        };
    }
    command.env_remove("COALESCE_PTX").env_remove("COLUMNS");
    command
}

/// What the program prints when it succeeds.
fn output(arguments: &str) -> String {
    let run = host(arguments).assert().success();
    String::from_utf8(run.get_output().stdout.clone()).expect("the output is text")
}

/// The JSON that a lab prints on the simulator.
fn json(arguments: &str) -> Value {
    let text = output(&format!("{arguments} --device sim --format json"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments}: {error}\n{text}"))
}

/// Whether a lab has this flag and shows it.
fn takes(lab: &str, flag: &str) -> bool {
    let lab = host::labs::Entry::named(lab).unwrap_or_else(|| panic!("there is no lab {lab}"));
    (lab.command)().get_arguments().any(|found| found.get_long() == Some(flag) && !found.is_hide_set())
}

/// The variant of that name.
fn variant<'a>(report: &'a Value, name: &str) -> &'a Value {
    let variants = report["variants"].as_array().expect("variants are a list");
    variants.iter().find(|variant| variant["name"] == name).unwrap_or_else(|| panic!("no variant {name}: {report}"))
}

/// Expects one error that contains each of `parts`, no other output, and exit code `code`.
fn fails(mut command: Command, code: i32, parts: &[&str]) {
    let run = command.assert().code(code);
    let output = run.get_output();
    assert!(output.stdout.is_empty(), "{command:?} printed {}", String::from_utf8_lossy(&output.stdout));
    let text = String::from_utf8_lossy(&output.stderr);
    let line = one_error(&text);
    for part in parts {
        assert!(line.contains(part) || text.contains(part), "{command:?} does not say '{part}': {text}");
    }
}

/// The only error in what the program wrote to the standard error, on one line. A trap on the
/// simulator has further lines, which are indented, and none is longer than 100 columns.
fn one_error(text: &str) -> String {
    let mut lines = text.lines();
    assert!(lines.next().is_some_and(|line| line.starts_with("error: ")), "{text}");
    let is_indented = |line: &str| line.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(' ');
    let of_trap = |line: &str| is_indented(line) && text.contains("\n  --> ") && line.chars().count() <= 100;
    assert!(lines.all(of_trap), "{text}");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The names of the files in a folder.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    entries.map(|entry| PathBuf::from(entry.expect("the folder is read").file_name())).collect()
}
