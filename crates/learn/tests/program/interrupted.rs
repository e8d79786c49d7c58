//! Tests of what goes wrong around `grade`: it is interrupted, the disk is full, memory is short, or somebody else compiles.

use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::*;
use crate::grading::{RIGHT, with};

/// Keeps the judges' folders apart from those of the other tests.
const JUDGES: &str = "23";

/// A kernel with which the compiler never ends.
fn endless() -> String {
    let constant =
        "#[allow(long_running_const_eval)]\nconst X: u64 = { let mut i = 0u64; while i < 1 << 60 { i += 1; } i };";
    with(&format!("{constant}\n#[kernel]\npub unsafe fn other(o: *mut u64) {{\n    *o = X;\n}}"))
}

/// The folder of the only job.
fn job_folder() -> PathBuf {
    root().join(format!("target/learn/{JUDGES}000"))
}

/// The command lines of processes that judge or compile there.
#[cfg(target_os = "linux")]
fn processes() -> Vec<String> {
    let folders = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let lines = folders.filter_map(|folder| fs::read(folder.join("cmdline")).ok());
    let texts = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    texts.filter(|line| line.contains(&format!("learn/{JUDGES}000"))).collect()
}

/// Tests that use the job's folder take turns.
fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[test]
fn ctrl_c_ends_everything_and_the_marks_so_far_are_kept() {
    if !has_compiler() {
        return;
    }
    let _turn = turn();
    let course = Course::new(&["copy"]);
    for (student, text) in [("anna", with("")), ("ben", endless()), ("cleo", with("// cleo"))] {
        course.write(&format!("class/{student}/copy/kernel.rs"), &text);
    }
    let (class, json) = (course.path("class"), course.path("marks.json"));
    let temporary = course.path("temporary");
    fs::create_dir(&temporary).unwrap();
    let mut grade = std::process::Command::new(env!("CARGO_BIN_EXE_learn"));
    grade
        .arg("--course")
        .arg(course.folder.path())
        .args(["grade", "--jobs", "1", "--time-limit", "600", "--json"])
        .arg(&json);
    grade.arg(&class).current_dir(env!("CARGO_MANIFEST_DIR")).env("LEARN_JOB", JUDGES).env("TMPDIR", &temporary);
    let child = grade.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn().unwrap();
    // Until the compiler is busy with Ben's file.
    let file = job_folder().join("file/src/kernel.rs");
    let start = Instant::now();
    while !fs::read_to_string(&file).is_ok_and(|text| text.contains("long_running")) {
        assert!(start.elapsed() < Duration::from_secs(400), "the compiler does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    let interrupted = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(interrupted.elapsed() < Duration::from_secs(10), "{:?}", interrupted.elapsed());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("error: interrupted: 2 files not judged; go on with --resume --json "), "{stderr}");
    #[cfg(target_os = "linux")]
    assert_eq!(processes(), [""; 0]);
    assert!(!job_folder().join("judge").exists());
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);

    let statuses = || {
        let marks: Value = serde_json::from_str(&course.read("marks.json")).unwrap();
        let students = marks["students"].as_array().unwrap().clone();
        let all: Vec<(String, f64)> = students
            .iter()
            .map(|student| &student["marks"][0])
            .map(|mark| (mark["status"].as_str().unwrap().to_owned(), mark["seconds"].as_f64().unwrap()))
            .collect();
        (marks["seed"].as_u64().unwrap(), all)
    };
    let (seed, before) = statuses();
    assert_eq!(before.iter().map(|(status, _)| status.as_str()).collect::<Vec<_>>(), ["solved", "failed", "failed"]);
    // Ben hands in something better, and Anna something worse under the same name later.
    course.write("class/ben/copy/kernel.rs", &with("// ben"));
    let resume = |course: &Course| {
        let mut command = course.command(&["grade", "--jobs", "1", "--resume", "--json"]);
        Outcome::of(command.arg(&json).arg(&class).env("LEARN_JOB", JUDGES))
    };
    resume(&course).succeeds();
    let (again, after) = statuses();
    assert_eq!((again, after.iter().map(|(status, _)| status.as_str()).collect::<Vec<_>>()), (seed, vec!["solved"; 3]));
    assert_eq!(after[0], before[0], "Anna's mark was kept");
    course.write("class/anna/copy/kernel.rs", &kernel("    *output = 1;"));
    resume(&course).succeeds();
    assert_eq!(statuses().1[0].0, "does_not_compile");
}

#[test]
fn waiting_for_others_is_not_the_students_time() {
    if !has_compiler() {
        return;
    }
    let _turn = turn();
    let course = Course::new(&["copy"]);
    course.write("class/anna/copy/kernel.rs", &with("// waits"));
    // So that the device library is there.
    course.command(&["list"]).env("LEARN_JOB", JUDGES).assert().success();
    let class = course.path("class").display().to_string();
    let grade = |time_limit: &str| {
        let mut command = course.command(&["grade", "--jobs", "1", "--seed", "1", "--time-limit", time_limit, &class]);
        Outcome::of(command.env("LEARN_JOB", JUDGES))
    };
    grade("60").succeeds();
    course.write("class/anna/copy/kernel.rs", &with(&format!("// waits {:?}", Instant::now())));
    let lock = fs::File::create(job_folder().join("lock")).unwrap();
    lock.lock().unwrap();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(8));
        drop(lock);
    });
    let outcome = grade("6");
    assert!(outcome.stderr.contains("Waiting for another `cargo learn`"), "{}", outcome.text());
    assert!(outcome.succeeds().starts_with("anna     solved"));
    other.join().unwrap();
}

#[test]
fn too_little_memory_is_not_the_students_fault() {
    if !has_compiler() {
        return;
    }
    let _turn = turn();
    let course = Course::new(&["copy"]);
    course.write("class/anna/copy/kernel.rs", &with(&format!("// memory {:?}", Instant::now())));
    let (class, json) = (course.path("class").display().to_string(), course.path("marks.json").display().to_string());
    let mut command = course.command(&["grade", "--jobs", "1", "--memory-limit", "300", "--json", &json, &class]);
    let outcome = Outcome::of(command.env("LEARN_JOB", JUDGES));
    assert!(outcome.stdout.starts_with("anna     not judged"), "{}", outcome.text());
    outcome.refuses(&["1 file not judged: the reports (--json) say why"]);
    assert!(course.read("marks.json").contains("\"failed\""));
}

#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let course = Course::new(&["copy"]);
    let with_full = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_learn"));
        command.arg("--course").arg(course.folder.path()).args(arguments).env("LEARN_JOB", JUDGES);
        command.current_dir(env!("CARGO_MANIFEST_DIR")).stdout(fs::OpenOptions::new().write(true).open(full).unwrap());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for arguments in [&["list"][..], &[], &["hint", "copy"], &["reset", "copy"], &["new", "other"]] {
        let (code, stderr) = with_full(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {stderr}");
        assert!(
            stderr.starts_with("error: the output cannot be written: ") && !stderr.contains("panicked"),
            "{stderr}"
        );
    }
    if has_compiler() {
        let _turn = turn();
        course.write("class/anna/copy/kernel.rs", &kernel(RIGHT));
        let (class, json) =
            (course.path("class").display().to_string(), course.path("marks.json").display().to_string());
        let (code, stderr) = with_full(&["grade", "--jobs", "1", "--json", &json, &class]);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains("error: the output cannot be written: ") && !stderr.contains("panicked"), "{stderr}");
        // The file is there all the same.
        assert!(course.read("marks.json").contains("\"solved\""));
    }
}
