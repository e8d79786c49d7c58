//! Tests of `cargo xtask compare` with a fake program and a fake compiler: which commands it runs,
//! and what it saves and writes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use assert_cmd::Command;
use predicates::prelude::{PredicateBooleanExt, predicate};

/// A fake `host`, which reports every row that a lab may have. FAKE_MISSING leaves one out, and
/// FAKE_WRONG makes one wrong.
const HOST: &str = r#"#!/bin/sh
echo "$@" >> log
if [ "$1" = devices ]; then
    echo '[{"name": "Pretended", "driver": "1.2", "cuda_version": "13.0", "compute_capability": "9.0"}]'
    exit
fi
[ -n "$FAKE_ERROR" ] && { echo "error: $FAKE_ERROR" >&2; exit 2; }
row() {
    printf '%s{"name": "%s", "correct": %s, "time_ms": %s, "parameters": {"library": %s}, "timing": {' "$comma" "$1" "$2" "$3" "$4"
    printf '"time_lower_quartile_ms": 1, "time_upper_quartile_ms": 1}}'
    comma=,
}
echo '{"variants": ['
row best "${FAKE_WRONG:-true}" 2.0 null
row cublas-sgemm true 4.0 '"cuBLAS 13.1.0"'
[ -z "$FAKE_MISSING" ] && row cublas-ssyrk-half true 3.0 '"cuBLAS 13.1.0"'
row driver-copy true 1.0 '"driver 1.2"'
row nvcc-copy true 1.5 '"nvcc 13.0"'
echo ']}'
"#;

const NVCC: &str = r#"#!/bin/sh
echo "nvcc $@" >> log
[ "$1" = --version ] && { echo "Cuda compilation tools, release 13.0, V13.0.88"; exit; }
while [ "$1" != -o ]; do shift; done
echo library > "$2"
"#;

/// A workspace with the two fake programs.
struct Workspace(tempfile::TempDir);

impl Workspace {
    fn new() -> Self {
        let workspace = Self(tempfile::tempdir().unwrap());
        for (name, text) in [("kernels/Cargo.toml", ""), ("xtask/Cargo.toml", ""), ("host", HOST), ("nvcc", NVCC)] {
            let path = workspace.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::create_dir(workspace.path("docs")).unwrap();
        workspace
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn compare(&self, arguments: &str) -> Command {
        let mut command = Command::cargo_bin("xtask").unwrap();
        command.arg("compare").args(arguments.split_whitespace());
        command.current_dir(self.0.path()).env_remove("CARGO_MANIFEST_DIR");
        command
    }
}

const MEASURE: &str = "--measure --host host --nvcc ./nvcc";

#[test]
fn what_is_measured_is_kept_and_written() {
    let workspace = Workspace::new();
    workspace.compare(&format!("{MEASURE} --only gram")).assert().success();
    let log = workspace.read("log");
    for line in [
        "gram --best --rows 4096 --device gpu --format json --peer --time-limit 0.15",
        "gram --best --rows 8192 --device gpu --format json --peer --time-limit 0.15",
    ] {
        assert_eq!(log.lines().filter(|found| *found == line).count(), 3, "two goals share their three runs: {log}");
    }
    assert!(log.contains("-arch=sm_90") && log.contains("docs/compare/cub.cu"), "{log}");
    let document = workspace.read("measurements/peers.md");
    assert!(document.contains("| 4096 | 2.00 ms | 3.00 ms | 1.50 | 1.25 | yes | - |"), "{document}");
    let page = workspace.read("docs/PEERS.md");
    let machine = "one Pretended (driver 1.2, CUDA 13.0, nvcc 13.0), with cuBLAS 13.1.0";
    assert!(page.replace('\n', " ").contains(machine), "{page}");

    // A second lab is measured; the first one's numbers stay.
    workspace.compare(&format!("{MEASURE} --only vector --time-limit 0.5 --processes 1")).assert().success();
    let log = workspace.read("log");
    assert!(
        log.contains(
            "vector --best --size 1048576 --device gpu --format json --peer --time-limit 0.5 --peer-library /"
        )
    );
    let document = workspace.read("measurements/peers.md");
    assert!(
        document.contains("| 4096 | 2.00 ms | 3.00 ms |") && document.contains("| 2^20 | 2.00 ms | 1.00 ms | 0.50 |")
    );

    // The document is made from the saved numbers and the words.
    workspace.compare("--check").assert().success();
    let wrong = "[[limits]]\nof = \"Matrix product\"\nrows = [\"17\"]\nwords = \"it is odd\"\n";
    fs::write(workspace.path("measurements/peers.toml"), wrong).unwrap();
    let unknown = "peers.toml: `Matrix product` has no row `17`";
    workspace.compare("").assert().code(1).stderr(predicate::str::contains(unknown));
    fs::write(workspace.path("measurements/peers.toml"), "").unwrap();
    fs::write(workspace.path("docs/PEERS.md"), "").unwrap();
    let stale = "error: docs/PEERS.md does not match the measurements: run `cargo xtask compare`\n";
    workspace.compare("--check").assert().code(1).stderr(stale);
    workspace.compare("").assert().success();
    assert_eq!(workspace.read("measurements/peers.md"), document);
    workspace.compare("--check").assert().success();
}

#[test]
fn a_library_that_is_there_needs_no_compiler() {
    let workspace = Workspace::new();
    fs::write(workspace.path("lib.so"), "").unwrap();
    workspace.compare("--measure --host host --library lib.so --only vector").assert().success();
    assert!(!workspace.read("log").contains("nvcc"));
    workspace
        .compare("--measure --host host --library no.so")
        .assert()
        .code(1)
        .stderr(predicate::str::contains("no.so"));
}

#[test]
fn what_is_wrong_or_missing_is_an_error() {
    let workspace = Workspace::new();
    let gram = format!("{MEASURE} --only gram");
    for (variable, value, message) in [
        ("FAKE_WRONG", "false", "failed: best is wrong\n"),
        ("FAKE_MISSING", "1", "it has no row cublas-ssyrk-half: is the library there?\n"),
        ("FAKE_ERROR", "there is no room", "failed: error: there is no room\n"),
    ] {
        let mut command = workspace.compare(&gram);
        command.env(variable, value).assert().code(1).stderr(predicate::str::ends_with(message));
        assert_eq!(workspace.read("docs/PEERS.md"), "", "nothing is written");
    }
    let message = "error: --only lines: nothing of this lab is compared; choose one of vector, transpose, matmul, gram, reduce, dot, \
                   rows, sparse\n";
    workspace.compare(&format!("{MEASURE} --only lines")).assert().code(1).stderr(message);
    let message = predicate::str::contains("peers_h200.json").and(predicate::str::contains("measure with --measure"));
    Workspace::new().compare("").assert().code(1).stderr(message);
}
