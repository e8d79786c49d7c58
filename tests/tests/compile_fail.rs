//! A launch whose arguments do not fit its kernel does not compile, and `#[kernel]` explains what
//! it rejects.
//!
//! Each file in `compile_fail/` is built and must fail, with the compiler's messages containing the
//! text after each `//~` in it. The rest of the messages is not pinned: it differs between compiler
//! versions. One cargo builds them all, against the libraries that `cargo test` has built.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What the compiler said of each program, and the programs that compiled.
fn build(programs: &BTreeMap<String, String>) -> (BTreeMap<String, String>, BTreeSet<String>) {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // From the workspace's root, so that the dependencies have the features that `cargo test` there
    // has built them with.
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    command.args(["build", "--quiet", "--keep-going", "--message-format", "json"]);
    command.args(["--features", "coalesce-tests/compile-fail"]);
    for program in programs.keys() {
        command.args(["--example", program]);
    }
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = command.output().expect("cargo runs");
    let (mut said, mut compiled) = (BTreeMap::<String, String>::new(), BTreeSet::new());
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let line: Value = serde_json::from_str(line).expect("cargo prints JSON");
        let name = line["target"]["name"].as_str().unwrap_or_default();
        match line["reason"].as_str() {
            Some("compiler-message") => {
                *said.entry(name.to_owned()).or_default() += line["message"]["rendered"].as_str().unwrap_or_default();
            }
            Some("compiler-artifact") => _ = compiled.insert(name.to_owned()),
            _ => {}
        }
    }
    // Cargo itself says how many errors there were.
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!said.is_empty(), "{stderr}");
    for line in stderr.lines() {
        if let Some((_, rest)) = line.split_once("(example \"")
            && let Some((name, errors)) = rest.split_once("\")")
        {
            *said.entry(name.to_owned()).or_default() += errors;
        }
    }
    (said, compiled)
}

#[test]
fn programs_that_must_not_compile_do_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("compile_fail");
    let paths = std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry").path());
    let programs: BTreeMap<String, String> = paths
        .map(|path| {
            let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
            (name, std::fs::read_to_string(&path).expect("the program is read"))
        })
        .collect();
    assert_eq!(programs.len(), 17);
    let (said, compiled) = build(&programs);
    for (name, text) in &programs {
        assert!(!compiled.contains(name), "{name} compiles");
        let said = said.get(name).map_or("", String::as_str);
        let expected: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("//~ ")).collect();
        assert!(!expected.is_empty(), "{name} says nothing of what the compiler should say");
        for part in expected {
            assert!(said.contains(part), "{name}: the compiler does not say '{part}':\n{said}");
        }
    }
}
