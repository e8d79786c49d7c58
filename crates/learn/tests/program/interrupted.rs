//! Tests of what goes wrong around `grade`: it is interrupted, the disk is full, memory is short,
//! or somebody else compiles.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::*;

/// Keeps the judges' folders apart from those of the other tests.
const JUDGES: &str = "23";

/// A kernel with which the compiler never ends.
pub fn endless() -> String {
    let constant =
        "#[allow(long_running_const_eval)]\nconst X: u64 = { let mut i = 0u64; while i < 1 << 60 { i += 1; } i };";
    with(&format!("{constant}\n#[kernel]\npub unsafe fn other(o: *mut u64) {{\n    *o = X;\n}}"))
}

/// The folder of the only job.
fn job_folder() -> PathBuf {
    root().join(format!("target/learn/{JUDGES}000"))
}

/// The folder of these judges' only job, as command lines have it.
#[cfg(target_os = "linux")]
fn of_job(judges: &str) -> String {
    format!("learn/{judges}000/")
}

/// The command lines of processes that judge or compile in this folder.
#[cfg(target_os = "linux")]
pub fn processes(folder: &str) -> Vec<String> {
    let folders = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let lines = folders.filter_map(|folder| fs::read(folder.join("cmdline")).ok());
    let texts = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    texts.filter(|line| line.contains(folder)).collect()
}

/// `grade` of a course's class with one job, in the folder of these judges.
fn grade(course: &Course, judges: &str, arguments: &[&str]) -> std::process::Command {
    let mut grade = std::process::Command::new(env!("CARGO_BIN_EXE_learn"));
    grade.arg("--course").arg(course.folder.path()).args(["grade", "--jobs", "1"]).args(arguments);
    grade.arg(course.path("class")).current_dir(env!("CARGO_MANIFEST_DIR")).env("LEARN_JOB", judges);
    grade
}

/// Waits until something is the case; on a busy machine, for long.
#[track_caller]
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(600), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Tests that use the job's folder take turns.
fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[test]
fn an_export_that_is_interrupted_leaves_nothing() {
    if !has_compiler() {
        return;
    }
    let _turn = turn();
    let course = Course::new(&["copy"]);
    let to = tempfile::tempdir().unwrap();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut export = std::process::Command::new(env!("CARGO_BIN_EXE_learn"));
        export.arg("--course").arg(course.folder.path()).arg("export").arg(to.path().join("students"));
        export.current_dir(env!("CARGO_MANIFEST_DIR")).env("LEARN_JOB", JUDGES).stderr(Stdio::null());
        let mut child = export.spawn().unwrap();
        until("nothing is written", || fs::read_dir(to.path()).unwrap().next().is_some());
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(128 + signal.as_raw()));
        assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0);
    }
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
    let mut grade = grade(&course, JUDGES, &["--time-limit", "600", "--json", &json.display().to_string()]);
    grade.env("TMPDIR", &temporary).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    // What a grade that was killed has left.
    let _ = fs::remove_dir_all(job_folder().join("file"));
    let child = grade.spawn().unwrap();
    // Until the compiler is busy with Ben's file.
    let file = job_folder().join("file/src/kernel.rs");
    let is_bens = || fs::read_to_string(&file).is_ok_and(|text| text.contains("long_running"));
    until("the compiler does not start", is_bens);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("error: interrupted: 2 files not judged; go on with --resume --json "), "{stderr}");
    #[cfg(target_os = "linux")]
    assert_eq!(processes(&of_job(JUDGES)), [""; 0]);
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
        let mut command = course.command(&["grade", "--jobs", "1", "--time-limit", "600", "--resume", "--json"]);
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

/// Kills a process as the system does when it is short of memory. Nothing may be left of what it
/// started.
#[cfg(target_os = "linux")]
#[track_caller]
fn nothing_outlives(mut child: std::process::Child, folder: &str) {
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    until("processes are left behind", || processes(folder).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_grade_that_is_killed_leaves_no_process_behind() {
    if !has_compiler() {
        return;
    }
    let _turn = turn();
    let course = Course::new(&["copy"]);
    course.write("class/ben/copy/kernel.rs", &endless());
    let _ = fs::remove_dir_all(job_folder().join("file"));
    let child = grade(&course, JUDGES, &["--time-limit", "600"]).stderr(Stdio::null()).spawn().unwrap();
    let compiles = |line: &String| {
        line.contains("rustc") && line.contains("--crate-name exercise") && !line.contains("learn start")
    };
    until("the compiler does not start", || {
        let text = fs::read_to_string(job_folder().join("file/src/kernel.rs")).unwrap_or_default();
        text.contains("long_running") && processes(&of_job(JUDGES)).iter().any(compiles)
    });
    nothing_outlives(child, &of_job(JUDGES));
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "long: `.ci/run` runs it"]
fn the_device_library_is_compiled_by_nobody_once_grade_has_ended() {
    if !has_compiler() {
        return;
    }
    // A clone in which nothing is compiled yet: links to the files of this one.
    let clone = tempfile::tempdir().unwrap();
    let clone = clone.path().canonicalize().unwrap();
    for entry in fs::read_dir(root().canonicalize().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        if name != "target" {
            std::os::unix::fs::symlink(&path, clone.join(name)).unwrap();
        }
    }
    let course = Course::new(&["copy"]);
    course.write("class/anna/copy/kernel.rs", &with(""));
    let library = || fs::read_dir(clone.join("target/learn/library")).unwrap().next().unwrap().unwrap().path();
    let here = clone.display().to_string();
    let learn = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_learn"));
        command.arg("--course").arg(course.folder.path()).args(arguments).current_dir(&clone);
        command
    };
    let begin = |mut command: std::process::Command| {
        let _ = fs::remove_dir_all(clone.join("target"));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn().unwrap();
        // cargo's own child.
        until("the compiler does not start", || processes(&here).iter().any(|line| line.contains("--crate-name core")));
        child
    };
    let class = course.path("class").display().to_string();
    let grade = ["grade", "--jobs", "1", &class];
    // By Ctrl-C, which only this process gets.
    let child = begin(learn(&grade));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.ends_with("error: interrupted before any file was judged\n"), "{stderr}");
    assert_eq!(output.status.code(), Some(2));
    until("processes are left behind", || processes(&here).is_empty());
    // Nobody has to wait for it, and what there is of it is not taken for a library.
    for lock in ["lock", "target/release/.cargo-lock", "target/nvptx64-nvidia-cuda/release/.cargo-lock"] {
        let lock = library().join(lock);
        assert!(!lock.exists() || fs::File::open(&lock).unwrap().try_lock().is_ok(), "{}", lock.display());
    }
    assert!(!library().join("ready").exists());
    // By SIGKILL, and a student's run, too.
    nothing_outlives(begin(learn(&grade)), &here);
    course.write("copy/kernel.rs", &with(""));
    nothing_outlives(begin(learn(&["run", "copy"])), &here);
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn resuming_keeps_the_marks_that_would_be_the_same() {
    if !has_compiler() {
        return;
    }
    const KEPT: f64 = 12345.0;
    let _turn = turn();
    let course = Course::new(&["copy"]);
    course.write("class/anna/copy/kernel.rs", &with(""));
    let json = course.path("marks.json").display().to_string();
    // A time that no judgement takes tells a mark that was kept from one that was made anew.
    let mark = |arguments: &[&str]| {
        let arguments = [&["--json", json.as_str()], arguments].concat();
        let output = grade(&course, JUDGES, &arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut marks: Value = serde_json::from_str(&course.read("marks.json")).unwrap();
        let mark = &mut marks["students"][0]["marks"][0];
        let kept = mark["seconds"] == KEPT;
        let status = mark["status"].as_str().unwrap().to_owned();
        mark["seconds"] = KEPT.into();
        course.write("marks.json", &marks.to_string());
        (status, kept)
    };
    let solved = |kept: bool| ("solved".to_owned(), kept);
    assert_eq!(mark(&[]), solved(false));
    course.write("copy/hints.md", "Another hint.\n---\nAnd one more.\n");
    course.write("copy/wrong/other.rs", "// fails: something\n");
    assert_eq!(mark(&["--resume"]), solved(true), "neither hints nor wrong solutions matter");
    let is_judged_again = |what: &str, arguments: &[&str], status: &str| {
        assert_eq!(mark(&[&["--resume"], arguments].concat()), (status.to_owned(), false), "{what}");
    };
    course.change("copy/reference.rs", "use ", "// The same.\nuse ");
    is_judged_again("another reference", &[], "solved");
    course.change("copy/solution.rs", "use ", "// The same.\nuse ");
    is_judged_again("another solution", &[], "solved");
    for limit in ["--time-limit=59", "--memory-limit=6000", "--step-limit=199999999", "--fault-limit=5", "--no-sandbox"]
    {
        is_judged_again(limit, &[limit], "solved");
    }
    course.change("copy/goals.toml", "minutes = 10", "minutes = 11");
    is_judged_again("other goals", &[], "solved");
    course.write("class/anna/copy/kernel.rs", &kernel("    *output = *input;"));
    is_judged_again("another file", &[], "wrong");
}

#[test]
fn what_was_found_before_the_time_was_up_is_shown() {
    if !has_compiler() {
        return;
    }
    let _turn = turn();
    let course = Course::new(&["copy"]);
    let body = "    *output.add(n as usize + 7) = 1.0;
    let mut x = u64::from(thread::index_1d());
    while x != 1 { x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407); }
    *output = *input;";
    course.write("class/anna/copy/kernel.rs", &kernel(body));
    let json = course.path("marks.json").display().to_string();
    let steps = u64::MAX.to_string();
    let mark = |seconds: u64| {
        let limit = seconds.to_string();
        let output = grade(&course, JUDGES, &["--time-limit", &limit, "--step-limit", &steps, "--json", &json])
            .output()
            .unwrap();
        let table = String::from_utf8_lossy(&output.stdout).into_owned();
        let expected = format!("anna     timed out         took more than {seconds} seconds\n");
        assert!(table.starts_with(&expected), "{table}");
        let marks: Value = serde_json::from_str(&course.read("marks.json")).unwrap();
        let mark = marks["students"][0]["marks"][0].clone();
        assert!(mark["seconds"].as_f64().unwrap() >= seconds as f64, "{mark}");
        mark
    };
    // On a busy machine the compiler alone may take the time.
    let launched = |mark: &Value| mark["report"].as_str().unwrap().contains("not done when the time was up");
    let mark = [3, 12, 48, 192].into_iter().map(mark).find(launched).expect("the kernel is launched");
    let report = mark["report"].as_str().unwrap();
    for words in
        ["not done when the time was up, at n = 1", "copy/kernel.rs:9", "memory: out of bounds", "copy/kernel.rs:7"]
    {
        assert!(report.contains(words), "there is no '{words}' in\n{report}");
    }
    assert_eq!(mark["status"], "timed_out");
}

#[test]
fn a_students_files_share_the_students_time() {
    if !has_compiler() {
        return;
    }
    let _turn = turn();
    let course = Course::new(&["copy", "again"]);
    course.write("class/anna/copy/kernel.rs", &endless());
    course.write("class/anna/again/kernel.rs", &with("// anna"));
    // It takes none of the time.
    course.write("class/ben/copy/kernel.rs", "include!(\"/etc/passwd\");");
    let json = course.path("marks.json").display().to_string();
    let marked = |arguments: &[&str]| {
        let mut grade = grade(&course, JUDGES, &["--time-limit", "600", "--json", &json]);
        assert!(grade.args(arguments).status().unwrap().success());
        let marks: Value = serde_json::from_str(&course.read("marks.json")).unwrap();
        [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(student, mark)| marks["students"][student]["marks"][mark].clone())
    };
    let marks = marked(&["--student-time-limit", "1"]);
    let statuses = |marks: &[Value; 4]| marks.each_ref().map(|mark| mark["status"].as_str().unwrap().to_owned());
    assert_eq!(statuses(&marks), ["timed_out", "timed_out", "refused", "missing"]);
    for mark in &marks[..2] {
        let report = mark["report"].as_str().unwrap();
        assert!(
            report.starts_with("the student's files together took the 1 second of --student-time-limit"),
            "{report}"
        );
        assert!(mark["digest"].is_null(), "it would be kept: {mark}");
    }
    assert_eq!(marks[1]["seconds"].as_f64(), Some(0.0), "nobody judged it: {}", marks[1]);

    // With more time they are judged.
    course.write("class/anna/copy/kernel.rs", &with("// anna"));
    let marks = marked(&["--student-time-limit", "3000", "--resume"]);
    assert_eq!(statuses(&marks), ["solved", "solved", "refused", "missing"]);
}

#[test]
fn faults_beyond_the_limit_stop_a_launch() {
    if !has_compiler() {
        return;
    }
    let _turn = turn();
    let course = Course::new(&["copy"]);
    let body = "    let mut i = 0;
    while i < u32::MAX {
        *output.add(i as usize + (1 << 30)) = 1.0;
        i = i.wrapping_add(2);
    }
    *output = *input;";
    course.write("class/anna/copy/kernel.rs", &kernel(body));
    let json = course.path("marks.json").display().to_string();
    assert!(
        grade(&course, JUDGES, &["--fault-limit", "1000", "--time-limit", &u64::MAX.to_string(), "--json", &json])
            .status()
            .unwrap()
            .success()
    );
    let report = course.read("marks.json");
    assert!(report.contains("its threads had more than 1000 faults"), "{report}");
    let refused = course.learn(&["grade", "--fault-limit=x", &course.path("class").display().to_string()]);
    refused.refuses(&["invalid value 'x'"]);
}

#[test]
fn waiting_for_others_is_not_the_students_time() {
    if !has_compiler() {
        return;
    }
    let _turn = turn();
    let course = Course::new(&["copy"]);
    // Another text each time, so that it is compiled.
    course.write("class/anna/copy/kernel.rs", &with(&format!("// waits {:?}", Instant::now())));
    fs::create_dir_all(job_folder()).unwrap();
    let lock = fs::File::create(job_folder().join("lock")).unwrap();
    lock.lock().unwrap();
    let json = course.path("marks.json").display().to_string();
    let begin = Instant::now();
    let mut command = grade(&course, JUDGES, &["--time-limit", "600", "--json", &json]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    notes.find(|note| note.contains("Waiting for another `cargo learn`")).expect("it says that it waits");
    let waits = Instant::now();
    std::thread::sleep(Duration::from_secs(3));
    let waited = waits.elapsed();
    drop(lock);
    let output = child.wait_with_output().unwrap();
    let rest = begin.elapsed() - waited;
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("anna     solved"), "{output:?}");
    let marks: Value = serde_json::from_str(&course.read("marks.json")).unwrap();
    let seconds = marks["students"][0]["marks"][0]["seconds"].as_f64().unwrap();
    assert!(seconds <= rest.as_secs_f64(), "{seconds} s of {rest:?}, after {waited:?}");
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

/// Whatever the limit on files, a file is there whole or not at all, and the program is not ended
/// by a signal.
#[cfg(target_os = "linux")]
#[test]
fn files_that_cannot_be_written_leave_nothing() {
    let course = Course::new(&["copy"]);
    let to = tempfile::tempdir().unwrap();
    let within = |limit: u32, arguments: &[&str]| {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit -f {limit}; exec \"$0\" \"$@\"")).arg(env!("CARGO_BIN_EXE_learn"));
        command.arg("--course").arg(course.folder.path()).args(arguments).env("LEARN_JOB", JUDGES);
        Outcome::of(command.current_dir(env!("CARGO_MANIFEST_DIR")))
    };
    let entries = |folder: &Path| fs::read_dir(folder).unwrap().count();
    let before = entries(course.folder.path());
    // The kernel, and the progress.
    within(0, &["hint", "copy"]).refuses(&["File too large"]);
    within(0, &["new", "other"]).refuses(&["File too large"]);
    assert_eq!(entries(course.folder.path()), before);
    // A part of the workspace fits.
    let folder = to.path().join("students");
    within(40, &["export", folder.to_str().unwrap()]).refuses(&["cannot be written", "File too large"]);
    assert_eq!(entries(to.path()), 0);
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
