//! A launch whose arguments do not fit its kernel does not compile, and `#[kernel]` explains what it rejects.
//!
//! Each file in `compile_fail/` is built and must fail, with the compiler's message containing the text after each
//! `//~` in it. The rest of the message is not pinned: it differs between compiler versions.

use std::path::Path;
use std::process::Command;

/// Builds an example of this package against what is already built. Returns whether it compiled,
/// and the compiler's messages.
fn build(example: &str) -> (bool, String) {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // From the workspace's root, so that the dependencies have the features that `cargo test` there
    // has built them with.
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    command.args([
        "build",
        "--quiet",
        "--color",
        "never",
        "--features",
        "coalesce-tests/compile-fail",
        "--example",
        example,
    ]);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = command.output().expect("cargo runs");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn programs_that_must_not_compile_do_not() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("compile_fail");
    let mut programs = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder is read").path();
        let text = std::fs::read_to_string(&path).expect("the program is read");
        let expected: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("//~ ")).collect();
        assert!(!expected.is_empty(), "{} says nothing of what the compiler should say", path.display());
        let (compiled, said) = build(path.file_stem().and_then(|stem| stem.to_str()).expect("a name"));
        assert!(!compiled, "{} compiles", path.display());
        for part in expected {
            assert!(said.contains(part), "{}: the compiler does not say '{part}':\n{said}", path.display());
        }
        programs += 1;
    }
    assert_eq!(programs, 17);
}
