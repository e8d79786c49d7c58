//! The labs' code for a GPU, on the driver that executes: by `cust` and the driver's API, with
//! right results, and without a GPU. The program that `coalesce run` starts is this test itself.
#![cfg(target_os = "linux")]

use std::process::Command;

use host::{cli, labs};
use serde_json::Value;

/// Set in the process that runs the labs.
const ROLE: &str = "COALESCE_LABS_TEST";

/// What precedes each line of results, among those of the test's harness.
const MARK: &str = "lab:";

/// A call of `host`: its JSON, messages and exit code.
fn host(arguments: &str) -> (Value, String, u8) {
    let mut out = Vec::new();
    let all = format!("{arguments} --device gpu --format json");
    let (code, messages) = cli::call(all.split_whitespace().map(Into::into), &mut out);
    (serde_json::from_slice(&out).unwrap_or(Value::Null), messages, code)
}

/// Flags for little data, of those that a lab has.
fn small(lab: &labs::Entry) -> String {
    let command = (lab.command)();
    let has = |name: &str| command.get_arguments().any(|argument| argument.get_long() == Some(name));
    let size = if lab.name == "texture" { "--size 32" } else { "--size 300" };
    let matrices = ["--rows 40", "--cols 30", "--m 30", "--n 20", "--k 10", "--volume 8,16,32"];
    let others = ["--blocks 2", "--rounds 2", "--lists 512", "--entries 4096"];
    let sizes = [&[size], matrices.as_slice(), &others].concat();
    let own = sizes.into_iter().filter(|size| has(&size[2..size.find(' ').unwrap_or(2)]));
    own.collect::<Vec<_>>().join(" ")
}

/// Not a test, unless a test of this file runs it.
#[test]
fn the_program_that_is_run() {
    let Ok(role) = std::env::var(ROLE) else { return };
    match role.as_str() {
        "labs" => {
            for lab in labs::ALL {
                let (report, messages, code) = host(&format!("{} {} --time-limit 0.001", lab.name, small(lab)));
                let rows = report["variants"].as_array().map_or(0, Vec::len);
                println!("{MARK} {} {code} {rows} {} {messages}", lab.name, report["device"]["name"]);
            }
        }
        _ => {
            let (report, messages, code) = host(&role);
            println!("{MARK} {code} {report} {}", messages.replace('\n', " "));
        }
    }
}

/// The lines that the program printed in a role, and the report of `coalesce run` as JSON.
fn run(role: &str, settings: &[(&str, &str)]) -> (Vec<String>, Value) {
    let report = tempfile::NamedTempFile::new().expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_coalesce"))
        .args(["run", "--format", "json", "--output"])
        .arg(report.path())
        .arg("--")
        .arg(std::env::current_exe().expect("a path"))
        .args(["the_program_that_is_run", "--exact", "--nocapture"])
        .env(ROLE, role)
        .envs(settings.iter().copied())
        .output()
        .expect("the program runs");
    let (out, messages) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let lines: Vec<String> = out.lines().filter_map(|line| Some(line.split_once(MARK)?.1.trim().to_owned())).collect();
    assert!(!lines.is_empty(), "{out}{messages}");
    let report = std::fs::read(report.path()).expect("the report");
    (lines, serde_json::from_slice(&report).unwrap_or_else(|error| panic!("{error}: {out}{messages}")))
}

/// A GPU with a small level-2 cache, which is flushed before each sample; times are not predicted.
const QUICK: [(&str, &str); 2] = [("COALESCE_DEVICE", "turing"), ("COALESCE_PREDICT", "never")];

#[test]
fn every_lab_is_right_by_the_drivers_api() {
    let (lines, report) = run("labs", &QUICK);
    assert_eq!(lines.len(), labs::ALL.len(), "{lines:?}");
    for (line, lab) in lines.iter().zip(labs::ALL) {
        let mut words = line.split(' ');
        assert_eq!((words.next(), words.next()), (Some(lab.name), Some("0")), "{line}");
        assert!(words.next().is_some_and(|rows| rows != "0") && line.contains("Coalesce simulator of T4"), "{line}");
    }
    // The driver has seen the labs' kernels: of the course, and the best ones.
    let kernels = report["kernels"].as_array().expect("kernels");
    let has = |name: &str| kernels.iter().any(|kernel| kernel["kernel"] == name && kernel["stopped"].is_null());
    assert!(kernels.len() > 60 && has("transpose_padded") && has("vector_copy16"), "{}", kernels.len());
}

#[test]
fn times_on_the_driver_are_predicted() {
    let (lines, report) = run("transpose --padded --rows 64 --time-limit 0.001", &[("COALESCE_DEVICE", "turing")]);
    let (_, json) = lines[0].split_once(' ').expect("the exit code and JSON");
    let lab: Value = serde_json::Deserializer::from_str(json).into_iter().next().expect("JSON").expect("JSON");
    // A T4 reads and writes at 320 GB/s by its data sheet.
    let copied = lab["device_copy"]["gbps"].as_f64().expect("a rate");
    assert!((1.0..320.0).contains(&copied), "{copied}");
    let milliseconds = lab["variants"][0]["time_ms"].as_f64().expect("a time");
    // As on a T4: some microseconds.
    assert!((0.001..0.1).contains(&milliseconds), "{milliseconds}");
    let padded = &report["kernels"][0];
    let launches = padded["launches"].as_f64().expect("launches");
    assert!(launches <= 3.0, "{launches}");
    let predicted = padded["predicted"]["time_ms"].as_f64().expect("a time");
    assert!((predicted / launches / milliseconds - 1.0).abs() < 0.5, "{predicted} {launches} {milliseconds}");
}

/// The whole course, as `host course` runs it on a GPU: each launch is timed by one prediction.
#[test]
#[ignore = "long: `.ci/run` runs it"]
fn the_course_ends() {
    let (lines, report) = run("course", &[("COALESCE_DEVICE", "turing")]);
    assert!(lines[0].starts_with("0 "), "{}", &lines[0][..lines[0].len().min(1000)]);
    assert!(report["kernels"].as_array().is_some_and(|kernels| kernels.len() > 60), "{report}");
}

#[test]
fn host_run_gives_results_and_faults_by_the_drivers_api() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("it.ptx");
    let ptx = "\
.version 7.8
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 p) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    add.u32 %r3, %r2, %r2;
    st.global.u32 [%rd3], %r3;
    ret;
}
";
    std::fs::write(&file, ptx).expect("the file is written");
    let file = file.display();
    let flags = "--print 0 --time-limit 0.001";
    let (lines, _) = run(&format!("run {file} twice --grid 1 --block 8 u32[8]=ramp {flags}"), &QUICK);
    assert!(lines[0].starts_with("0 ") && lines[0].contains("[0,2,4,6,8,10,12,14]"), "{lines:?}");
    let (lines, report) = run(&format!("run {file} twice --grid 1 --block 32 u32[8]=ramp {flags}"), &QUICK);
    assert!(lines[0].starts_with("1 ") && lines[0].contains("(700)"), "{lines:?}");
    assert!(report["kernels"][0]["stopped"].as_str().is_some_and(|fault| fault.contains("out of bounds")), "{report}");
}
