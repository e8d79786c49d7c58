//! Tests of predicted times: what `run` says of them, goals in them, and what is wrong with either.

use super::*;

/// Right, but each lane of a warp is in another sector.
const SPREAD: &str = "    let (block, t) = (thread::block_idx_x() * 256, thread::thread_idx_x());
    let i = block + t % 32 * 8 + t / 32;
    if i < n { *output.add(i as usize) = *input.add(i as usize); }";

/// The sizes and the goal of [`course`].
const PREDICTED: &str = "[predicted]\nn = { from = 1_048_576, to = 1_048_576 }\n\n[data.input]";
const GOAL: &str = "[[goal]]\nthat = \"predicted_speedup >= 1.2\"\nwhy = \"Side by side is faster.\"\n";

/// A course whose exercise `copy` is to be made fast.
fn course() -> Course {
    let course = Course::new(&["copy"]);
    let goals = course.read("copy/goals.toml");
    let (goals, _) = goals.split_once("[[goal]]").unwrap();
    let goals = goals
        .replace("task = \"right\"", "task = \"fast\"")
        .replace("starter_fails = \"memory\"", "starter_fails = \"predicted_speedup\"")
        .replace("[data.input]", PREDICTED);
    course.write("copy/goals.toml", &format!("{goals}{GOAL}"));
    course.write("copy/starter.rs", &kernel(SPREAD));
    course
}

/// The line on predicted times in a report.
fn line(report: &str) -> String {
    let (_, line) = report.split_once("Predicted on an H200 at n = 1048576: ").unwrap_or_else(|| panic!("{report}"));
    wording::one_line(line.split_once("\n\n").map_or(line, |(line, _)| line))
}

#[test]
fn a_run_says_what_a_change_gains_and_goals_ask_for_it() {
    if !has_compiler() {
        return;
    }
    let course = course();
    let report = course.learn(&["run"]).reports(&[
        "ok  right at 8 sizes",
        "wrong  predicted_speedup is 1 (limited by ",
        "); goal: at least 1.2",
        "       Side by side is faster.",
        "copy/kernel.rs:9",
        "warps wait longest on this line, by the prediction: ",
    ]);
    assert!(line(&report).ends_with(", as handed out."), "{report}");

    course.write("copy/kernel.rs", &course.read("copy/solution.rs"));
    let page = course.path("page.html");
    let run = |seed: &str| course.learn(&["run", "--seed", seed, "--report", page.to_str().unwrap()]).succeeds();
    let report = run("1");
    assert!(report.contains("ok  predicted_speedup is ") && report.contains("Solved."), "{report}");
    assert!(line(&report).contains("; as handed out ") && line(&report).ends_with(" times as fast."), "{report}");
    assert_eq!(line(&report), line(&run("2")));
    assert!(course.read("page.html").contains("Predicted on an H200 at n = 1048576: "));

    // On another model, and compared with the solution.
    course.change("copy/goals.toml", "predicted_speedup >= 1.2", "h100: predicted_speedup >= 0.9 * solution");
    course.learn(&["run"]).succeeds();
    course.change("copy/goals.toml", ">= 0.9", "> 1.1");
    course.learn(&["run"]).reports(&["wrong  h100: predicted_speedup is ", "; goal: more than 1.1 * solution = "]);
}

#[test]
fn a_kernel_whose_time_is_predicted_must_be_right_there() {
    if !has_compiler() {
        return;
    }
    let course = course();
    let large = "    if n > 1_000_000 { return; }\n";
    course.write("copy/kernel.rs", &kernel(&format!("{large}{RIGHT}")));
    let report = course.learn(&["run"]).reports(&["right at 6 sizes", "wrong results at n = 1048576:"]);
    assert!(!report.contains("predicted"), "{report}");
    // Without a barrier there, though the results are right.
    let race = "    #[address_space(shared)]
    static STAGE: SharedCell<[u32; 256]> = SharedCell::uninit();
    let (stage, t) = (STAGE.as_mut_ptr().cast::<u32>(), thread::thread_idx_x() as usize);
    stage.add(t).write_volatile(t as u32);
    if n < 1_000_000 { thread::sync_threads(); }
    if *stage.add(t ^ 32) > 256 { *output = 0.0; }\n";
    course.write("copy/kernel.rs", &kernel(&format!("{race}{RIGHT}")));
    course.learn(&["run"]).reports(&["at n = 1048576:", "race"]);
    #[cfg(unix)]
    {
        let submissions = [("never", "    while n > 1_000_000 {}\n", "wrong"), ("returns", large, "wrong")];
        for (student, body, _) in submissions {
            course.write(&format!("class/{student}/copy/kernel.rs"), &kernel(&format!("{body}{RIGHT}")));
        }
        let json = course.path("marks.json");
        let mut command = course.command(&["grade", "--jobs", "1", "--step-limit", "5000000", "--json"]);
        command.arg(&json).arg(course.path("class")).env("LEARN_JOB", crate::grading::JUDGES);
        println!("{}", Outcome::of(&mut command).text());
        let marks: serde_json::Value = serde_json::from_str(&course.read("marks.json")).unwrap();
        for (at, (student, _, status)) in submissions.into_iter().enumerate() {
            let found = &marks["students"][at];
            assert_eq!((&found["name"], &found["marks"][0]["status"]), (&student.into(), &status.into()), "{found:#}");
        }
    }
}

#[test]
fn sizes_that_are_too_small_to_predict_are_the_exercises_fault() {
    if !has_compiler() {
        return;
    }
    let course = course();
    course.change("copy/goals.toml", "from = 1_048_576, to = 1_048_576", "from = 4096, to = 4096");
    let expected = "copy/goals.toml: [predicted]: too little work to predict the time of an H200";
    course.learn(&["run"]).refuses(&[expected]);
    course.learn(&["check"]).reports(&["wrong  copy", "[predicted]: too little work"]);
}

#[test]
fn what_is_wrong_with_goals_in_predicted_time_is_said() {
    let course = course();
    let good = course.read("copy/goals.toml");
    for (from, to, expected) in [
        ("[predicted]\nn", "[predicted]\nm", "[predicted] has a size 'm' that [sizes] lacks"),
        ("to = 1_048_576", "to = 9", "size 'n': there is no value from 1048576 to 9"),
        ("to = 1_048_576", "to = \"9\"", "invalid type"),
        ("\"fast\"", "\"right\"", "[predicted] is for exercises whose task is \"fast\""),
        (PREDICTED, "[data.input]", "the goal `predicted_speedup >= 1.2` needs [predicted]"),
        ("that = \"predicted_speedup", "that = \"predicted_speed", "unknown metric 'predicted_speed'"),
        (">= 1.2", ">= 1.2 +", "'1.2 +': a number or a name is missing at the end"),
    ] {
        assert!(good.contains(from), "{from}");
        course.write("copy/goals.toml", &good.replacen(from, to, 1));
        course.learn(&["run"]).refuses(&["copy/goals.toml: ", expected]);
    }
    let course = crate::predicting::course();
    course.change("predict/goals.toml", "\"transactions of", "\"predicted_speedup of");
    course.learn(&["run"]).refuses(&["question 'fermi': predicted_speedup of shifted is for goals"]);
}
