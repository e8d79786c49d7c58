//! `coalesce judge`, and `coalesce mcp` over it, as users run them: honest candidates are right,
//! wrong ones and tricks are named.
#![cfg(target_os = "linux")]

mod kernels;
mod mcp;

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

/// A folder with candidates, beside the checked-in references.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    /// Writes a file. Returns its path.
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    }
}

/// Runs `coalesce judge`.
fn run(reference: &Path, candidate: &Path, more: &[&str]) -> Output {
    let mut command = assert_cmd::Command::cargo_bin("coalesce").expect("the program");
    command.arg("judge").arg("--reference").arg(reference).arg("--candidate").arg(candidate).args(more);
    if !more.contains(&"--seed") {
        command.args(["--seed", "1"]);
    }
    if sandbox::missing().is_some() {
        command.arg("--no-sandbox");
    }
    command.output().expect("it runs")
}

/// The verdict as JSON, and the exit code.
fn verdict(reference: &Path, candidate: &Path, more: &[&str]) -> (Value, Option<i32>) {
    let output = run(reference, candidate, &[more, &["--format", "json"]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    let verdict = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"));
    (verdict, output.status.code())
}

/// The error of a request that cannot be judged.
fn error(reference: &Path, candidate: &Path, more: &[&str]) -> String {
    let output = run(reference, candidate, more);
    assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]));
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

/// A file beside these tests.
fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judge").join(name)
}
