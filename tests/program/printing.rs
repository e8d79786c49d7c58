//! Tests of what kernels print on the simulator: `printf` and `assert`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{host, one_error, output};

/// The PTX of the simulator's own tests.
fn system() -> PathBuf {
    PathBuf::from("../crates/simt/tests/filetests/system.ptx")
}

#[test]
fn printf_goes_to_the_standard_output_in_the_order_of_blocks() {
    let file = system();
    let file = file.display();
    let text = output(&format!("run {file} greets --grid 2 --block 3 u32[8] --device sim"));
    let (printed, table) = text.split_once("\n\n").expect("an empty line behind it");
    assert_eq!(printed, "block 0, 0\nblock 0, 2\nblock 1, 0\nblock 1, 2");
    assert!(table.starts_with("greets of "), "{table}");
    let json: Value = serde_json::from_str(&output(&format!(
        "run {file} greets --grid 1 --block 1 u32[8] --device sim --format json"
    )))
    .expect("JSON");
    assert_eq!(json["output"], json!("block 0, 0\n"));
    let text = output(&format!("run {file} greets --grid 1 --block 1 u32[8] --device sim --format csv"));
    assert!(text.contains("\noutput,\"block 0, 0\n\"\n"), "{text}");
    // One that prints nothing says so.
    let json: Value = serde_json::from_str(&output(&format!(
        "run {file} stacks --grid 1 --block 4 u32[64] --device sim --format json"
    )))
    .expect("JSON");
    assert_eq!(json["output"], json!(""));
}

#[test]
fn more_than_a_gpu_keeps_is_cut_and_counted() {
    let text = output(&format!("run {} greets --grid 100000 --block 1 u32[300000] --device sim", system().display()));
    let lost = text.lines().find(|line| line.starts_with('[')).expect("a note");
    // 12 bytes for blocks 0 to 9, 13 for 10 to 99, and so on.
    let bytes = 10 * 11 + 90 * 12 + 900 * 13 + 9000 * 14 + 90_000 * 15;
    assert_eq!(lost, format!("[{} more bytes were printed, and are not kept]", bytes - (1 << 20)));
    assert!(text.starts_with("block 0, 0\nblock 1, 0\n"), "{}", &text[..40]);
}

#[test]
fn an_assertion_says_what_should_hold_after_what_was_printed() {
    let arguments = format!("run {} asserts --grid 3 --block 1 u32:1 --device sim", system().display());
    let run = host(&arguments).assert().code(1);
    let printed = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    assert_eq!(printed, "block 0, 1\nblock 1, 1\n\n");
    let error = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(one_error(&error).contains("assertion `n > 3` failed at k.cu:6 in `k`"), "{error}");
    let run = host(&(arguments + " --format json")).assert().code(1);
    let json: Value = serde_json::from_slice(&run.get_output().stdout).expect("JSON");
    assert_eq!(json["faults"][0]["kind"], json!("assertion"));
    assert_eq!(json["output"], json!("block 0, 1\nblock 1, 1\n"));
}
