//! Tests of open exercises: launches that students write, grades by predicted time, what is not
//! timed, and leaderboards.

use serde_json::Value;

use super::*;

/// What an open exercise has in place of launches and goals.
const OPEN: &str = "[predicted]
n = { from = 1_048_576, to = 1_048_576 }

[open]
arguments = [\"input\", \"output\", \"n\"]
launches = 2
bytes = \"8 * n\"
grades = { passed = 2.5, good = 2.0, best = 0.1 }

[answer]
kernel = \"reference\"
arguments = [\"input\", \"output\", \"n\"]
grid = \"min(64, ceil(n / 256))\"
block = 256
";

/// The reference, for any launch.
const REFERENCE: &str = "use cuda_std::prelude::*;

/// # Safety
/// `input` and `output` hold `n` floats.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, n: u32) {
    for i in thread::grid_stride(n as usize) { *output.add(i.get()) = *input.add(i.get()); }
}
";

/// A thread for each float.
const LAUNCH: &str = "//@ launch copy: grid = \"ceil(n / 256)\", block = 256\n";

/// A course whose exercise `copy` is open.
fn course() -> Course {
    let course = Course::new(&["copy"]);
    let goals = course.read("copy/goals.toml");
    let (goals, _) = goals.split_once("[[launch]]").unwrap();
    let goals = goals.replace("\"right\"", "\"open\"");
    course.write("copy/goals.toml", &format!("{goals}{OPEN}"));
    course.write("copy/reference.rs", REFERENCE);
    course.write("copy/starter.rs", &(LAUNCH.to_owned() + &kernel("")));
    course.write("copy/solution.rs", &(LAUNCH.to_owned() + &kernel(RIGHT)));
    course
}

#[test]
fn a_right_kernel_is_graded_by_its_time_and_the_best_times_are_kept() {
    if !has_compiler() {
        return;
    }
    let course = course();
    course.write("copy/kernel.rs", &course.read("copy/solution.rs"));
    let report = course.learn(&["run", "--seed", "1"]).succeeds();
    let report = wording::one_line(&report);
    for words in [
        "(open: make it the fastest, about 10 minutes)",
        "ok right at 8 sizes",
        "ok predicted on hopper (H200) at n = 1048576: ",
        " times a copy's time; grade: ",
        "The copy: 2.66 us in an empty launch, and 8.00 MiB at 4610 GB/s: 4.48 us.",
        "Limited by ",
        "loads.sectors_per_request 4",
        "occupancy 100 %",
        "The next grade, best, takes at most 0.10 times a copy's time",
        "Your best times: `cargo learn leaderboard copy`.",
    ] {
        assert!(report.contains(words), "there is no '{words}' in {report}");
    }
    let first = course.read("leaderboard.jsonl");
    let entry: Value = serde_json::from_str(&first).unwrap();
    assert_eq!((&entry["task"], &entry["model"]), (&"copy".into(), &"hopper".into()));
    // With other values, the time is the same; on another model, it is another line.
    course.learn(&["run", "--seed", "2"]).succeeds();
    assert_eq!(course.read("leaderboard.jsonl"), first);
    course.learn(&["run", "--device", "sim:ada"]).succeeds();
    assert_eq!(course.read("leaderboard.jsonl").lines().count(), 2);
    let shown = course.learn(&["leaderboard"]).succeeds();
    assert!(
        shown.starts_with("copy on ada (") || shown.starts_with("copy on hopper (H200); a copy: 4.48 us\n"),
        "{shown}"
    );
    let shown = course.learn(&["leaderboard", "copy", "--device", "ada"]).succeeds();
    assert!(shown.starts_with("copy on ada (") && shown.lines().count() == 2, "{shown}");
    // What is wrong with the file is no reason to lose the verdict.
    course.write("leaderboard.jsonl", "{}");
    let run = course.learn(&["run"]);
    for words in [
        "note: this time is not in your leaderboard: ",
        "leaderboard.jsonl:1: this is no line of a leaderboard: missing field `task`; correct the line, or delete it",
    ] {
        assert!(run.code == Some(0) && run.stderr.contains(words), "{}", run.stderr);
    }
    course.learn(&["run", "--device", "sim:geforce"]).refuses(&["there is no model 'geforce' with times"]);
}

#[test]
fn what_is_slow_wrong_or_left_out_at_the_timed_size_has_no_grade() {
    if !has_compiler() {
        return;
    }
    let course = course();
    let run = |launch: &str, body: &str, words: &[&str]| {
        course.write("copy/kernel.rs", &format!("{launch}{}", kernel(body)));
        course.learn(&["run"]).reports(words);
        assert!(!course.path("leaderboard.jsonl").exists(), "{body}");
    };
    run(LAUNCH, "", &["output[0] was never written"]);
    let one = "    for i in thread::grid_stride(n as usize) { *output.add(i.get()) = *input.add(i.get()); }";
    let few = "//@ launch copy: grid = 2, block = 256\n";
    run(few, one, &["ok  right at 8 sizes", "wrong  predicted on hopper", "no grade yet", "Limited by"]);
    let large = format!("    if n > 1_000_000 {{ return; }}\n{RIGHT}");
    run(LAUNCH, &large, &["wrong results at n = 1048576:"]);
    // The blocks of the multiprocessor that is timed leave their work to others.
    let launch = "//@ launch copy: grid = \"8 * multiprocessors\", block = 256\n";
    let others = "    let (block, t) = (thread::block_idx_x(), thread::thread_idx_x());
    let is_large = n > 1_000_000;
    if is_large && block % 132 == 0 { return; }
    for block in if is_large && block % 132 == 1 { block - 1 } else { block }..=block {
        let mut i = 256 * block + t;
        while i < n {
            *output.add(i as usize) = *input.add(i as usize);
            i += 256 * thread::grid_dim_x();
        }
    }";
    run(launch, others, &["no time on hopper", "others do ", "as much work in `copy`"]);
}

#[test]
fn what_is_wrong_with_a_launch_is_said_in_its_line() {
    if !has_compiler() {
        return;
    }
    let course = course();
    for (launch, words) in [
        ("", "this file launches no kernel: write a line `//@ launch KERNEL: grid = ..., block = ...`"),
        ("\n//@ lunch copy: grid = 1, block = 1\n", "line 2: write it as `//@ launch KERNEL"),
        ("//@ launch copi: grid = 1, block = 1\n", "line 1: there is no kernel `copi`; this file has `copy`"),
        ("//@ launch copy: grid = \"m / 2\", block = 1\n", "line 1: 'm / 2': unknown name 'm'"),
        ("//@ launch copy: grid = \"n / 512\", block = 1\n", "line 1: 'n / 512' is 0.001953125, and must be a"),
        ("//@ launch copy: grid = true, block = 1\n", "line 1: a grid or a block must be a number, an expression in"),
        ("/*\n//@ launch copy: grid = 1, block = 1\n*/\n", "this file launches no kernel"),
        ("//@ launch copy: grid = 1, block = 2048\n", "line 1: kernel `copy`"),
        ("//@ launch copy: grid = 0, block = 32\n", "line 1: kernel `copy`"),
        ("//@ launch copy: grid = 1, block = 1, shared = 1e9\n", "line 1: "),
    ] {
        course.write("copy/kernel.rs", &format!("{launch}{}", kernel(RIGHT)));
        let report = course.learn(&["run"]).reports(&[]);
        let joined = wording::one_line(&report);
        assert!(joined.contains(words), "{launch}: {report}");
    }
}

#[test]
fn what_is_no_leaderboard_is_refused_in_one_line_and_files_are_put_together() {
    let course = course();
    let line = |name: &str, us: f64| {
        format!(
            "{{\"task\":\"copy\",\"model\":\"hopper\",\"us\":{us},\"name\":\"{name}\",\"date\":\"2026-11-29\",\
             \"digest\":\"{}\",\"version\":\"{}\"}}\n",
            "0".repeat(64),
            "a".repeat(16)
        )
    };
    let shown = course.learn(&["leaderboard"]).succeeds();
    assert_eq!(shown, "No times yet: solve an open exercise with `cargo learn run`.\n");
    course.write("a.jsonl", &(line("anna", 9.0) + "\n" + &line("anna", 8.0)));
    course.write("b.jsonl", &line("ben\\u001b[31m", 8.5));
    let [a, b] = ["a.jsonl", "b.jsonl"].map(|name| course.path(name).display().to_string());
    let shown = course.learn(&["leaderboard", &a, &b]).succeeds();
    let rows: Vec<&str> = shown.lines().collect();
    assert!(rows.len() == 3 && rows[1].contains("anna") && rows[1].contains("8.00 us"), "{shown}");
    assert!(rows[2].contains("ben\u{fffd}[31m") && rows[2].ends_with("(another version of the model)"), "{shown}");
    let good = line("anna", 9.0);
    for (text, expected) in [
        ("garbage", "bad.jsonl:1: this is no line of a leaderboard: expected value"),
        ("[]", "bad.jsonl:1: this is no line of a leaderboard"),
        (good.replace("\"copy\"", "\"gram\"").as_str(), "bad.jsonl:1: 'gram' is no open exercise of this course"),
        (good.replace("hopper", "g\\nx").as_str(), "is no model with times; correct the line, or delete it"),
        (good.replace(":9,", ":-1,").as_str(), "bad.jsonl:1: the time 'us' must be from 0.001 to 1000000000 micro"),
        (
            good.replace(":9,", ":1.7e308,").as_str(),
            "the time 'us' must be from 0.001 to 1000000000 microseconds; correct",
        ),
        (good.replace(":9,", ":5e-324,").as_str(), "bad.jsonl:1: the time 'us' must be from"),
        (good.replace(":9,", ":1e999,").as_str(), "bad.jsonl:1: this is no line of a leaderboard"),
        (good.replace("anna", " ").as_str(), "bad.jsonl:1: the name must have 1 to 64 letters"),
        (good.replace("anna", "\u{3164}").as_str(), "bad.jsonl:1: the name must have 1 to 64 letters"),
        (good.replace("2026-11-29", "today").as_str(), "'today' is no date such as 2026-11-29"),
        (good.replace("2026-11-29", "9999-99-99").as_str(), "'9999-99-99' is no date such as 2026-11-29"),
        (good.replace("00", "").as_str(), "the digest must have 64 hexadecimal digits"),
        (good.replace("aaaa", "").as_str(), "the version must have 16 hexadecimal digits"),
        (
            good.replace("\"us\"", "\"x\":1,\"us\"").as_str(),
            "bad.jsonl:1: this is no line of a leaderboard: unknown field",
        ),
    ] {
        course.write("bad.jsonl", text);
        let bad = course.path("bad.jsonl").display().to_string();
        let said = course.learn(&["leaderboard", &bad]).refuses(&[expected]);
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    fs::write(course.path("bad.jsonl"), [0xff, 0xfe]).unwrap();
    let bad = course.path("bad.jsonl").display().to_string();
    course.learn(&["leaderboard", &bad]).refuses(&["bad.jsonl: this is no leaderboard: it is not UTF-8"]);
    course.learn(&["leaderboard", "cope"]).refuses(&["there is no exercise 'cope'; did you mean 'copy'?"]);
    #[cfg(unix)]
    course.learn(&["leaderboard", "/dev/zero"]).refuses(&["/dev/zero: this is no leaderboard: it is no file"]);
}

#[test]
fn what_is_wrong_with_an_open_exercise_is_said() {
    let course = course();
    let good = course.read("copy/goals.toml");
    for (from, to, expected) in [
        ("\"open\"", "\"right\"", "there is no [[launch]]"),
        ("[open]", "[[launch]]\nkernel = \"copy\"\ngrid = 1\nblock = 1\narguments = []\n[open]", "has no [[launch]]"),
        ("from = 1_048_576,", "from = 1,", "an open exercise needs one size 'n' in [predicted]: from = to"),
        ("launches = 2", "launches = 0", "launches: there must be at least 1"),
        ("good = 2.0", "good = 3.0", "grades: give one or more, each with a smaller number"),
        ("{ passed = 2.5, good = 2.0, best = 0.1 }", "{}", "grades: give one or more"),
        ("8 * n", "8 *", "'8 *': a number or a name is missing at the end"),
    ] {
        assert!(good.contains(from), "{from}");
        course.write("copy/goals.toml", &good.replacen(from, to, 1));
        course.learn(&["run"]).refuses(&["copy/goals.toml: ", expected]);
    }
    let goal = "[[goal]]\nthat = \"launches == 1\"\nwhy = \"A\"\n";
    course.write("copy/goals.toml", &format!("{good}{goal}"));
    course.learn(&["run"]).refuses(&["an open exercise has grades, not goals"]);
}

#[cfg(unix)]
#[test]
fn a_class_is_graded_and_its_leaderboard_is_written() {
    if !has_compiler() {
        return;
    }
    let course = course();
    course.change("copy/goals.toml", ", best = 0.1", "");
    course.write("class/anna/copy/kernel.rs", &course.read("copy/solution.rs"));
    course.write("class/ben/copy/kernel.rs", &course.read("copy/starter.rs"));
    course.write("class/\u{3164}/copy/kernel.rs", &course.read("copy/solution.rs"));
    let [json, board] = ["marks.json", "board.jsonl"].map(|name| course.path(name));
    let mut command = course.command(&["grade", "--jobs", "1", "--seed", "1", "--device", "sim:h100", "--json"]);
    command.arg(&json).arg("--leaderboard").arg(&board).arg(course.path("class"));
    let shown = Outcome::of(command.env("LEARN_JOB", crate::grading::JUDGES)).succeeds();
    assert!(shown.contains("solved"), "{shown}");
    let marks: Value = serde_json::from_str(&course.read("marks.json")).unwrap();
    let mark = |at: usize| &marks["students"][at]["marks"][0];
    assert_eq!((&mark(0)["status"], &mark(1)["status"]), (&"solved".into(), &"wrong".into()), "{marks:#}");
    assert!(mark(0)["score"]["us"].as_f64().is_some_and(|us| us > 1.0) && mark(1)["score"].is_null(), "{marks:#}");
    let shown = course.learn(&["leaderboard", &board.display().to_string()]).succeeds();
    assert!(shown.starts_with("copy on h100 ("), "{shown}");
    assert!(shown.contains("   1  \\u{3164}  ") && shown.contains("   2  anna  "), "{shown}");
}
