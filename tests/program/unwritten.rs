//! Elements of outputs that no thread wrote: how they are printed, saved and noted.

use serde_json::{Value, json};

use crate::host;

/// A kernel of nvcc that forgets the last five elements.
const PART: &str = "run ../tests/program/nvcc/part.ptx part --grid 1 --block 32 --device sim";

/// What it says to the standard error, and prints; the exit code is always 0.
fn ran(arguments: &str) -> (String, String) {
    let run = host(&format!("{PART} {arguments}")).assert().success();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&run.get_output().stderr), text(&run.get_output().stdout))
}

/// They were shown as 0, without a word.
#[test]
fn elements_that_no_thread_wrote_are_marked_and_named() {
    let (said, printed) = ran("f32[32]=uninit 32 --print 0");
    assert_eq!(said, "note: argument 0: 5 of 32 elements were never written: 27 to 31; ? stands for them\n");
    assert!(printed.ends_with("\n16: 7 7 7 7 7 7 7 7\n24: 7 7 7 ? ? ? ? ?\n"), "{printed}");
    let (_, csv) = ran("f32[32]=uninit 32 --print 0 --format csv");
    assert!(csv.contains("buffer 0[26],7\n") && csv.contains("buffer 0[27],?\n"), "{csv}");
    let (_, json) = ran("f32[32]=uninit 32 --print 0 --format json");
    let report: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&report["buffers"]["0"][26], &report["buffers"]["0"][27]), (&json!(7.0), &json!(null)));
    assert_eq!(report["unwritten"], json!({"0": [[27, 31]]}));
    // After two launches, the elements that neither wrote.
    let then = "f32[64]=uninit 32 --then part --grid 1 --block 32 arg:0+128 i32:6 --print 0 --format json";
    let report: Value = serde_json::from_str(&ran(then).1).expect("JSON");
    assert_eq!(report["unwritten"], json!({"0": [[27, 31], [33, 63]]}));
}

#[test]
fn a_file_with_such_elements_is_written_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("y.npy");
    let (said, _) = ran(&format!("f32[32]=uninit 32 --save 0={}", file.display()));
    let expected = format!(
        "note: argument 0: 5 of 32 elements were never written: 27 to 31; {} has there what memory held\n",
        file.display()
    );
    assert_eq!(said, expected);
    assert_eq!(host::npy::read::<f32>(&file, 1).expect("the file").data.len(), 32);
}

#[test]
fn what_was_filled_or_is_not_known_has_no_mark() {
    // The host wrote these.
    assert_eq!(ran("f32[32]=1 32 --print 0").0, "");
    // Without the check, nobody knows.
    let (said, printed) = ran("f32[32]=uninit 32 --print 0 --check memory,race");
    assert!(said.is_empty() && !printed.contains('?'), "{said}{printed}");
    // On a model, the check runs before.
    let (said, _) = ran_on_model();
    assert!(said.contains("27 to 31"), "{said}");
}

fn ran_on_model() -> (String, String) {
    let run = host(&PART.replace("--device sim", "--device sim:volta f32[32]=uninit 32 --print 0")).assert().success();
    (String::from_utf8_lossy(&run.get_output().stderr).into_owned(), String::new())
}

/// Beside a GPU, the simulator knows.
#[cfg(target_os = "linux")]
#[test]
fn beside_a_gpu_the_simulator_says_which() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/program/nvcc/part.ptx");
    let run = format!("run {file} part --grid 1 --block 32 --device gpu --once f32[32]=uninit i32:32 --print 0");
    let said = |flags: &str| {
        let run = crate::gpu::on_gpu(&format!("{run} {flags}"), "").assert().success();
        String::from_utf8_lossy(&run.get_output().stderr).into_owned()
    };
    assert_eq!(said(""), "");
    assert_eq!(
        said("--counters"),
        "note: argument 0: 5 of 32 elements were never written: 27 to 31; ? stands for them\n"
    );
}
