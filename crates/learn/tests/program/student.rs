//! Tests of the commands for students: progress, run, hint, reset, solution and watch.

use std::fs;

use super::*;

#[test]
fn the_first_look_names_the_file_to_edit() {
    let course = Course::new(&["copy", "other"]);
    let status = course.learn(&[]).succeeds();
    for words in
        ["0 of 2 exercises solved", "Beginnings", "copy: Copy without the end", "copy/kernel.rs", "cargo learn run"]
    {
        assert!(status.contains(words), "{status}");
    }
    assert_eq!(course.read("copy/kernel.rs"), course.read("copy/starter.rs"));
    let list = course.learn(&["list"]).succeeds();
    assert!(list.contains("[>] copy ") && list.contains("[ ] other") && list.ends_with("0 of 2 solved.\n"), "{list}");
}

#[test]
fn an_exercise_is_solved_and_the_next_comes() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy", "other"]);
    let report = course.learn(&["run"]).reports(&[
        "1 fault at n = 1:",
        "memory: out of bounds",
        "it is about input[1]; input has 1 element",
        "copy/kernel.rs:17",
        "A hint: cargo learn hint copy",
    ]);
    assert!(!report.contains("src/kernel.rs"), "{report}");
    course.learn(&["solution", "copy"]).refuses(&["copy is not solved yet", "cargo learn hint copy"]);

    course.write("copy/kernel.rs", &course.read("copy/solution.rs"));
    let report = course.learn(&["run", "copy"]).succeeds();
    for words in
        ["ok  right at 8 sizes", "ok  loads.sectors_per_request is 4", "; goal: at most 4.1", "Solved.", "Next: other"]
    {
        assert!(report.contains(words), "{report}");
    }
    let list = course.learn(&["list"]).succeeds();
    assert!(list.contains("[x] copy ") && list.contains("[>] other"), "{list}");
    assert!(course.learn(&[]).succeeds().contains("1 of 2 exercises solved"));
    assert_eq!(course.learn(&["solution", "copy"]).succeeds(), course.read("copy/solution.rs"));

    // The progress file can be deleted, and an invalid one is reported by name.
    course.write("progress.toml", "solved = 3\n");
    course.learn(&["list"]).refuses(&["progress.toml: ", "delete it to start over"]);
    fs::remove_file(course.path("progress.toml")).unwrap();
    assert!(course.learn(&["list"]).succeeds().ends_with("0 of 2 solved.\n"));
}

#[test]
fn goals_that_are_missed_name_the_line() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    course.write("copy/kernel.rs", &kernel(SCATTERED));
    course.learn(&["run", "--seed", "1"]).reports(&[
        "ok  right at 8 sizes",
        "wrong  loads.sectors_per_request is 8.00; goal: at most 4.1",
        "Neighbouring threads should read neighbouring floats.",
        "copy/kernel.rs:11",
        "loads.sectors_per_request on this line: 8.00",
        "A warp's load from global memory, 4 bytes a lane (block 0, 0, 0, warp 0):",
        "32 lanes ask for 128 bytes; 8 sectors, 256 bytes, move: 50 % used.",
    ]);
    assert!(!course.path("progress.toml").exists());
}

#[test]
fn a_page_has_the_verdict_the_access_and_the_source() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    let page = course.path("page.html");
    let run = |more: &[&str]| course.learn(&[&["run", "copy", "--seed", "1", "--report"], more].concat());
    let path = page.to_str().expect("a path of plain text");
    let has = |words: &[&str]| {
        let text = fs::read_to_string(&page).expect("the page is text");
        for words in words {
            assert!(text.contains(words), "there is no '{words}' in {text}");
        }
        assert!(text.starts_with("<!DOCTYPE html>") && !text.contains('\u{1b}'), "{text}");
        text
    };
    // The fault of the starter stands at its line; nothing was counted.
    run(&[path]).reports(&["1 fault at n = 1:"]);
    let text = has(&["Not solved yet.", "memory: out of bounds", "<div class=\"finding\">out of bounds"]);
    assert!(!text.contains("<figure>"), "{text}");
    course.write("copy/kernel.rs", &kernel(SCATTERED));
    run(&[path]).reports(&["wrong  loads.sectors_per_request is 8.00; goal: at most 4.1"]);
    has(&[
        "0</b> of <b>1</b> goals are met",
        "8 sectors, 256 bytes, move: 50 % used.",
        "class=\"hot warm20\"",
        "<td>11</td>",
    ]);
    has(&["global loads: 8.00 sectors per request", "class=\"ptx\"", "Neighbouring threads should read"]);
    course.write("copy/kernel.rs", &course.read("copy/solution.rs"));
    run(&[path]).succeeds();
    has(&["<p>Solved.</p>", "4 sectors, 128 bytes, move: 100 % used."]);
    // What does not compile has a page that says so.
    course.write("copy/kernel.rs", "fn");
    run(&[path]).reports(&["does not compile"]);
    has(&["Not solved yet.", "it does not compile"]);
    run(&["nowhere/page.html"]).refuses(&["nowhere/page.html", "there is no folder"]);
    run(&[course.path("copy/kernel.rs").to_str().expect("a path")]).refuses(&["--report", "give an .html file"]);
    assert_eq!(course.read("copy/kernel.rs"), "fn");
}

/// Right, but with eight sectors for each load.
pub const SCATTERED: &str = "    let (block, i) = (thread::block_idx_x() * 256, thread::thread_idx_x());
    let i = block + i % 8 * 32 + i / 8;
    if i < n {
        // 8 sectors, and 4 in the last block, perhaps.
        *output.add(i as usize) = *input.add(i as usize);
    }";

#[test]
fn hints_come_one_by_one() {
    let course = Course::new(&["copy"]);
    let first = course.learn(&["hint"]).succeeds();
    assert!(first.contains("Hint 1 of 2") && !first.contains("Hint 2 of 2"), "{first}");
    assert!(first.contains("One more: cargo learn hint copy"), "{first}");
    for _ in 0..2 {
        let both = course.learn(&["hint", "copy"]).succeeds();
        assert!(both.contains("Hint 1 of 2") && both.contains("Hint 2 of 2") && !both.contains("One more"), "{both}");
    }
}

#[test]
fn reset_keeps_what_the_student_wrote() {
    let course = Course::new(&["copy"]);
    course.write("copy/kernel.rs", "// mine\n");
    let message = course.learn(&["reset", "copy"]).succeeds();
    assert!(message.contains("kernel.rs.before"), "{message}");
    assert_eq!(course.read("copy/kernel.rs"), course.read("copy/starter.rs"));
    assert_eq!(course.read("copy/kernel.rs.before"), "// mine\n");
    // Doing it again changes nothing.
    course.learn(&["reset", "copy"]).succeeds();
    assert_eq!(course.read("copy/kernel.rs.before"), "// mine\n");
}

#[test]
fn wrong_command_lines_are_one_line() {
    let course = Course::new(&["copy"]);
    for (arguments, says) in [
        (&["run", "--sede", "3"][..], "unexpected argument '--sede' found; tip: "),
        (&["rnu"], "unrecognized subcommand 'rnu'"),
        (&["run", "--seed", "x"], "invalid value 'x' for '--seed"),
        (&["reset"], "the following required arguments were not provided: <NAME>"),
        (&["grade"], "the following required arguments were not provided: "),
        (&["run", "a", "b\u{1b}[31m"], "unexpected argument"),
    ] {
        let said = course.learn(arguments).refuses(&[says, "; see ", "--help"]);
        assert!(said.lines().count() == 1 && said.starts_with("error: ") && !said.contains('\u{1b}'), "{said}");
    }
}

#[test]
fn help_says_which_commands_need_a_name() {
    let course = Course::new(&["copy"]);
    for command in ["new", "reset", "solution"] {
        let help = course.learn(&[command, "--help"]).succeeds();
        assert!(help.contains("<NAME>") && !help.contains("[default: the next]"), "{help}");
        course.learn(&[command]).refuses(&["<NAME>", &format!("cargo learn {command} --help")]);
    }
    for command in ["run", "watch", "hint"] {
        let help = course.learn(&[command, "--help"]).succeeds();
        assert!(help.contains("[NAME]") && help.contains("[default: the next]"), "{help}");
    }
}

#[test]
fn reset_never_loses_what_it_replaces() {
    let course = Course::new(&["copy"]);
    // The second is not UTF-8.
    let works = [&b"// first\n"[..], b"// \xff second\n", b"// third\n"];
    let kept = ["copy/kernel.rs.before", "copy/kernel.rs.before2", "copy/kernel.rs.before3"];
    for (work, name) in works.iter().zip(kept) {
        fs::write(course.path("copy/kernel.rs"), work).unwrap();
        let message = course.learn(&["reset", "copy"]).succeeds();
        assert!(message.contains(&format!("{name}.")), "{message}");
        assert_eq!(course.read("copy/kernel.rs"), course.read("copy/starter.rs"));
    }
    for (work, name) in works.iter().zip(kept) {
        assert_eq!(fs::read(course.path(name)).unwrap(), *work, "{name}");
    }

    // What cannot be kept is not replaced, and the progress stays.
    course.write("progress.toml", "solved = [\"copy\"]\n");
    fs::remove_file(course.path("copy/kernel.rs")).unwrap();
    fs::create_dir(course.path("copy/kernel.rs")).unwrap();
    course.learn(&["reset", "copy"]).refuses(&["copy/kernel.rs: cannot be read"]);
    assert!(course.read("progress.toml").contains("copy"));
    assert!(course.path("copy/kernel.rs").is_dir());
}

#[test]
fn reset_clears_the_mark_that_it_was_solved() {
    let course = Course::new(&["copy"]);
    course.write("copy/kernel.rs", "// mine\n");
    course.write("progress.toml", "solved = [\"copy\"]\n");
    let message = course.learn(&["reset", "copy"]).succeeds();
    assert!(message.contains("no longer counts as solved"), "{message}");
    assert!(course.learn(&["list"]).succeeds().ends_with("0 of 1 solved.\n"));
    assert!(course.learn(&["--help"]).succeeds().contains("count the exercise as unsolved"));
}

#[test]
fn unknown_names_are_met_with_the_nearest() {
    let course = Course::new(&["copy"]);
    course.learn(&["run", "cpoy"]).refuses(&["there is no exercise 'cpoy'; did you mean 'copy'?"]);
    course.learn(&["hint", "quite_different"]).refuses(&["there is no exercise 'quite_different'; `cargo learn list`"]);
    // As the shell completes it.
    course.learn(&["hint", "exercises/copy/"]).succeeds();
}

#[test]
fn elsewhere_it_says_where_it_belongs() {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_learn"));
    Outcome::of(command.current_dir(elsewhere.path())).refuses(&["run this in a clone of Coalesce"]);
    let course = Course::new(&[]);
    fs::remove_file(course.path("course.toml")).unwrap();
    course.learn(&[]).refuses(&["course.toml"]);
}

#[test]
fn compile_errors_are_at_the_students_lines() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    course.write("copy/kernel.rs", &kernel("    *output = 1;"));
    let report = course.learn(&["run"]).reports(&[
        "it does not compile",
        "error[E0308]: mismatched types",
        "copy/kernel.rs:7:15",
    ]);
    assert!(!report.contains("src/kernel.rs") && !report.contains("could not compile"), "{report}");

    course.write("copy/kernel.rs", &kernel("    if n > 0 {"));
    course.learn(&["run"]).reports(&[
        "it does not compile",
        "unclosed delimiter: nothing closes this `{`",
        "copy/kernel.rs:6:65",
    ]);

    course.write("copy/kernel.rs", &kernel("    println!(\"{n}\");"));
    course.learn(&["run"]).reports(&["cannot find macro `println`", "a kernel has no console"]);

    course.write("copy/kernel.rs", &kernel("").replace("copy(", "paste("));
    course.learn(&["run"]).reports(&["there is no kernel `copy`; this file has `paste`"]);

    course.write("copy/kernel.rs", &kernel("").replace(", n: u32", ""));
    course.learn(&["run"]).reports(&["kernel `copy` has 2 parameters", "keep its signature as it was"]);

    course.write("copy/kernel.rs", &kernel("    *output = *input;\n    /// Done."));
    course.learn(&["run"]).reports(&["E0585", "copy/kernel.rs:8:5"]);

    let twice = kernel("").replace(
        "/// # Safety",
        "mod other {\n    use cuda_std::prelude::*;\n    #[kernel]\n    pub unsafe fn copy() {}\n}\n/// # Safety",
    );
    course.write("copy/kernel.rs", &twice);
    // rustc's own note is wider than 100 columns.
    let outcome = course.learn(&["run"]);
    let words = ["the name `copy` is defined multiple times", "copy/kernel.rs:", "pub unsafe fn copy() {}"];
    assert!(outcome.code == Some(1) && words.iter().all(|words| outcome.stdout.contains(words)), "{}", outcome.text());

    let nested = format!("    let x = {}true;", "!".repeat(50_000));
    course.write("copy/kernel.rs", &kernel(&nested));
    course.learn(&["run"]).reports(&["the compiler crashed", "nested or repeated too deeply"]);
}

#[test]
fn what_a_kernel_may_not_have_is_refused_before_it_is_compiled() {
    let course = Course::new(&["copy"]);
    course.write("copy/kernel.rs", &kernel("    let _ = include_str!(\"/etc/passwd\");"));
    let outcome = course.learn(&["run"]);
    if has_compiler() {
        outcome.reports(&["not compiled: line 7: `include_str`: a kernel may not read files"]);
    }
    fs::write(course.path("copy/kernel.rs"), b"// fine\n// \xff\n").unwrap();
    let outcome = course.learn(&["run"]);
    if has_compiler() {
        outcome.reports(&["line 2: this is not UTF-8"]);
    }
}

#[test]
fn a_loop_without_end_is_stopped_at_its_line() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    let endless = "    let mut x = thread::index_1d();
    while x != 1 {
        x = x.wrapping_mul(3).wrapping_add(2) & 0xfffe;
    }
    *output = *input;";
    course.write("copy/kernel.rs", &kernel(endless));
    course.learn(&["run"]).reports(&["a loop that never ends", "copy/kernel.rs:8", "while x != 1 {"]);
    // With what was found before that.
    course.write("copy/kernel.rs", &kernel(&format!("    *output.add(n as usize) = 1.0;\n{endless}")));
    course.learn(&["run"]).reports(&["a loop that never ends", "out of bounds"]);
}

#[test]
fn watching_goes_on_until_the_saved_file_is_right() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    let mut watching = Command::new(env!("CARGO_BIN_EXE_learn"))
        .arg("--course")
        .arg(course.path(""))
        .args(["watch", "copy"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("LEARN_JOB", JOBS)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = String::new();
    for line in BufReader::new(watching.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // It waits for the student, who now saves the solution.
        if line.starts_with("Waiting for you to save") {
            course.write("copy/kernel.rs", &course.read("copy/solution.rs"));
        }
        said += &line;
        said.push('\n');
    }
    assert!(watching.wait().unwrap().success(), "{said}");
    let (before, after) = said.split_once("Waiting for you").expect(&said);
    assert!(before.contains("memory: out of bounds") && after.contains("Solved."), "{said}");
}
