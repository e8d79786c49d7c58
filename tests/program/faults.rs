//! Tests of `--check`: the sanitizer on labs, and on models of a GPU.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{fails, host, one_error, output, variant};

/// The labs' kernels with a mistake in one of them: in the text of `kernel`, `what` is replaced by
/// `by`.
pub fn mistaken(kernel: &str, what: &str, by: &str) -> (tempfile::TempDir, PathBuf) {
    let text = kernels::PTX[0].text;
    let at = text.find(&format!(".entry {kernel}(")).expect("the kernel is there");
    let (before, after) = text.split_at(at);
    assert!(after.contains(what), "{kernel} has no {what}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mistaken.ptx");
    std::fs::write(&file, format!("{before}{}", after.replacen(what, by, 1))).expect("the file is written");
    (folder, file)
}

/// The padded transpose without its barrier.
pub fn racing() -> (tempfile::TempDir, PathBuf) {
    mistaken("transpose_padded", "bar.sync \t0;", "")
}

fn json_of(mut command: assert_cmd::Command, code: i32) -> Value {
    let run = command.args(["--format", "json"]).assert().code(code);
    assert!(code == 1 || run.get_output().stderr.is_empty());
    serde_json::from_slice(&run.get_output().stdout).expect("JSON")
}

#[test]
fn the_labs_own_kernels_are_without_a_fault() {
    for device in ["sim", "sim:turing"] {
        for lab in ["transpose --rows 65 --cols 70 --pitched", "offset --size 1000"] {
            let report = json_of(host(&format!("{lab} --check all --device {device}")), 0);
            assert_eq!(report["parameters"]["check"], "all");
            for variant in report["variants"].as_array().expect("a list") {
                assert_eq!((&variant["faults"], &variant["correct"]), (&json!([]), &json!(true)), "{variant}");
            }
        }
    }
    let unchecked = json_of(host("transpose --tiled --rows 20 --cols 20 --device sim"), 0);
    assert!(unchecked["parameters"].get("check").is_none() && unchecked["variants"][0]["faults"] == json!([]));
}

#[test]
fn a_fault_of_a_lab_s_kernel_is_reported_like_one_of_run() {
    let (_folder, file) = racing();
    let lab = |flags: &str| {
        let mut command = host(&format!("transpose --tiled --padded --rows 64 --cols 40 {flags} --ptx"));
        command.arg(&file);
        command
    };
    // Without checks the result is wrong, without a reason.
    let unasked = lab("--device sim").assert().code(1);
    assert!(unasked.get_output().stderr.is_empty());
    // On the model warps alternate so often that the result is right, but it is still a race.
    for (device, padded) in [("sim", "padded     NO  1.00      1 "), ("sim:kepler", "padded    yes     0      1 ")] {
        let run = lab(&format!("--check race,sync --no-predict --legend --device {device}")).assert().code(1);
        let (table, reported) = (&run.get_output().stdout, &run.get_output().stderr);
        let (table, reported) = (String::from_utf8_lossy(table), String::from_utf8_lossy(reported));
        assert!(table.contains("seed 1, check race,sync\n"), "{table}");
        assert!(table.contains("\ntiled     yes     0      0 "), "{table}");
        assert!(table.contains(&format!("\n{padded}")), "{table}");
        assert!(reported.starts_with("fault[race]: race in a block: "), "{reported}");
        assert!(
            reported.contains("kernels/src/transpose.rs:") && reported.contains("in kernel `transpose_padded`, "),
            "{reported}"
        );
        assert!(reported.ends_with("\nerror: kernel transpose_padded: the checks found 1 fault\n"), "{reported}");
        assert!(table.lines().chain(reported.lines()).all(|line| line.chars().count() <= 100), "{table}{reported}");
    }
    let report = json_of(lab("--check all --device sim"), 1);
    assert_eq!(variant(&report, "tiled")["faults"], json!([]));
    let fault = &variant(&report, "padded")["faults"][0];
    assert_eq!((&fault["check"], &fault["kind"]), (&json!("race"), &json!("race_in_block")));
    assert!(fault["file"].as_str().is_some_and(|file| file.ends_with("transpose.rs")), "{fault}");
    assert!(fault["other"]["line"].is_u64() && fault["count"].as_u64() > Some(1), "{fault}");
    // The counters are the same as without checks.
    let unchecked = json_of(lab("--device sim"), 1);
    for name in ["tiled", "padded"] {
        assert_eq!(variant(&report, name)["counters"], variant(&unchecked, name)["counters"]);
    }
    let csv = lab("--check all --device sim --format csv").assert().code(1);
    let csv = String::from_utf8_lossy(&csv.get_output().stdout).into_owned();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = rows[0].iter().position(|name| *name == "faults").expect("a column");
    assert_eq!((rows[1][column], rows[2][column]), ("0", "1"));
}

#[test]
fn a_trap_of_a_lab_s_kernel_is_in_the_json() {
    let (folder, file) = mistaken("transpose_padded", "bar.sync \t0;", "trap;");
    let saved = folder.path().join("t.npy");
    let lab = |flags: &str| {
        let mut command =
            host(&format!("transpose --tiled --padded --rows 32 --cols 32 --device sim --no-predict {flags}"));
        command.arg("--ptx").arg(&file).arg("--output").arg(&saved);
        command
    };
    for checks in ["", "--check all"] {
        for (format, completed, stopped) in [
            ("table", "\ntiled: 32 x 32 yes 0 ", "\npadded: 32 x 33 - - 1"),
            ("csv", ",tiled,32,32,", ",padded,32,32,"),
            ("markdown", "\n| tiled | yes | 0 |", "\npadded was stopped by a fault \n"),
        ] {
            let run = lab(checks).args(["--format", format]).assert().code(1);
            let (rows, error) = (&run.get_output().stdout, &run.get_output().stderr);
            let (rows, error) = (String::from_utf8_lossy(rows), String::from_utf8_lossy(error));
            let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ") + " ";
            let rows = rows.lines().map(words).collect::<Vec<_>>().join("\n") + "\n";
            assert!(rows.contains(completed) && rows.contains(stopped), "{rows}");
            assert!(one_error(&error).starts_with("error: kernel `transpose_padded`: "), "{error}");
        }
        let report = json_of(lab(checks), 1);
        assert_eq!(variant(&report, "tiled")["correct"], true);
        let padded = variant(&report, "padded");
        assert_eq!((&padded["correct"], &padded["counters"]), (&json!(null), &json!(null)));
        assert_eq!((&padded["faults"][0]["kind"], &padded["faults"][0]["check"]), (&json!("trap"), &json!(null)));
        assert!(!saved.exists(), "what a fault cut short is not saved");
    }
    // There are no rows to show if nothing completed.
    let mut alone = host("transpose --padded --rows 32 --cols 32 --device sim --ptx");
    alone.arg(&file);
    fails(alone, 1, &["transpose_padded", "kernels/src/transpose.rs:"]);
}

#[test]
fn a_bug_in_several_variants_is_reported_once() {
    // One thread reads just past the end, unless it has no element to write.
    let (_folder, file) = mistaken("offset_read", "setp.le.u64", "setp.lt.u64");
    let mut command = host("offset --read --offset 0,1,2 --size 100 --block 64 --device sim --check memory --ptx");
    let run = command.arg(&file).assert().code(1);
    let reported = String::from_utf8_lossy(&run.get_output().stderr);
    assert_eq!(reported.matches("out of bounds read").count(), 2, "one for each vector: {reported}");
    assert_eq!(reported.matches("in kernel `offset_read`, 2 times").count(), 2, "{reported}");
    assert!(reported.ends_with("\nerror: kernel offset_read: the checks found 2 faults\n"), "{reported}");
    let table = String::from_utf8_lossy(&run.get_output().stdout);
    assert!(table.contains("\n0        yes     0      0 ") && table.contains("\n1         NO"), "{table}");
    // Without checks, it stops the run.
    let mut command = host("offset --read --offset 1,2 --size 100 --block 64 --device sim --ptx");
    command.arg(&file);
    fails(command, 1, &["offset_read", "out of bounds read"]);
}

#[test]
fn checks_of_run_are_on_with_a_model_and_change_nothing_that_it_counts() {
    let planted = "run planted/ptx/planted.sm_75.ptx race_reverse --grid 3 --block 64 f32[64]=ramp f32[64] --print 1";
    let run = |flags: &str, code: i32| {
        let mut command = host(&format!("{planted} {flags}"));
        command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests"));
        json_of(command, code)
    };
    let plain = run("--device sim", 1);
    assert!(!plain["faults"].as_array().expect("faults").is_empty());
    for model in ["g80", "hopper"] {
        let checked = run(&format!("--device sim:{model}"), 1);
        let unchecked = run(&format!("--device sim:{model} --check none"), 0);
        assert_eq!((&checked["faults"], &unchecked["faults"]), (&plain["faults"], &json!([])));
        assert_eq!(checked["counters"], unchecked["counters"]);
        assert_eq!(checked["buffers"], unchecked["buffers"]);
        assert_ne!(checked["counters"], plain["counters"], "the model counts more");
    }
}

#[test]
fn a_block_that_waits_for_a_later_one_is_for_a_model_without_checks() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wait.ptx");
    let text = "\
.version 7.0
.target sm_75
.address_size 64
.visible .entry wait(.param .u64 flag) {
    .reg .pred %p<3>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [flag];
    mov.u32 %r1, %ctaid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 st.relaxed.gpu.global.u32 [%rd1], 1;
    @%p1 ret;
again:
    ld.relaxed.gpu.global.u32 %r2, [%rd1];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra again;
    ret;
}
";
    std::fs::write(&file, text).expect("the file is written");
    let run = |flags: &str| {
        let mut command = host("run");
        command.arg(&file).args(["wait", "--grid", "2", "--block", "1", "u32[1]=0", "--step-limit", "10000"]);
        command.args(flags.split_whitespace());
        command
    };
    run("--device sim:volta --check none").assert().success();
    fails(run("--device sim:volta"), 1, &["wait", "10000 warp instructions", "waits for a later one", "--check none"]);
}

#[test]
fn labs_check_nothing_on_a_gpu_and_say_so() {
    fails(host("transpose --check races --device sim"), 2, &["unknown check 'races'"]);
    assert!(output("offset --help").contains("--check <CHECKS>"));
    fails(host("list --ptx a.ptx"), 2, &["unexpected argument '--ptx'"]);
    fails(host("list --device sim"), 2, &["unexpected argument '--device'"]);
}
