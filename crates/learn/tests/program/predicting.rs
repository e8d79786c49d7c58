//! Tests of exercises to explain, where students write predictions in place of kernels.

use super::*;

const GOALS: &str = r#"title = "One word further"
task = "explain"
minutes = 5

[data.input]
type = "f32"
length = 64

[data.output]
type = "f32"
length = 32
output = true

[[launch]]
kernel = "shifted"
grid = 1
block = 32
arguments = ["input", "output"]

[[question]]
name = "hopper"
ask = "Sectors of the load on Hopper"
count = "loads.sectors_per_request of shifted"
on = "hopper"
why = "Words 1 to 32 touch five sectors."

[[question]]
name = "fermi"
ask = "Transactions of the load on Fermi"
count = "transactions of shifted"
on = "fermi"
why = "Word 32 is in the next line."
"#;

const GIVEN: &str = "//! One word further.\n\nuse cuda_std::prelude::*;\n\n/// # Safety\n/// One warp.\n#[kernel]\n\
    pub unsafe fn shifted(input: *const f32, output: *mut f32) {\n    let i = thread::thread_idx_x() as usize;\n    \
    *output.add(i) = *input.add(i + 1);\n}\n";

/// A course with an exercise to explain.
pub fn course() -> Course {
    let course = Course::new(&[]);
    course.list(&["predict"]);
    write(&course);
    course
}

/// Writes the exercise into a course.
pub fn write(course: &Course) {
    for (file, text) in [
        ("goals.toml", GOALS),
        ("given.rs", GIVEN),
        ("hints.md", "Draw the words.\n---\nMark the sectors.\n"),
        ("starter.toml", "# Sectors?\nhopper = \"?\"\n# Lines?\nfermi = \"?\"\n"),
        ("solution.toml", "hopper = 5\nfermi = 2\n"),
        ("wrong/aligned.toml", "# fails: hopper: 4\nhopper = 4\nfermi = 2\n"),
        ("wrong/one_line.toml", "# fails: fermi: 1\nhopper = 5\nfermi = 1\n"),
    ] {
        course.write(&format!("predict/{file}"), text);
    }
}

#[test]
fn predictions_are_compared_and_explained_in_time() {
    if !has_compiler() {
        return;
    }
    let course = course();
    course.learn(&["run"]).reports(&[
        "?  hopper: Sectors of the load on Hopper",
        "2 questions left",
        "predict/given.rs",
        "predict/predict.toml",
    ]);
    assert_eq!(course.read("predict/predict.toml"), course.read("predict/starter.toml"));
    // The access in question is drawn once, without what it costs.
    let asked = course.learn(&["run"]).reports(&["32 lanes ask for 128 bytes.", "lane 0  1  2"]);
    assert_eq!(asked.matches("lane 0").count(), 1, "{asked}");
    assert!(!asked.contains("sectors,") && !asked.contains('░'), "{asked}");

    let page = course.path("page.html");
    let path = page.to_str().expect("a path of plain text");
    course.learn(&["run", "--report", path]).reports(&["2 questions left"]);
    let text = std::fs::read_to_string(&page).expect("the page is text");
    assert!(
        text.contains("32 lanes ask for 128 bytes.") && !text.contains("per request") && !text.contains("160 bytes")
    );

    // The first wrong answer is not explained.
    course.write("predict/predict.toml", "hopper = 4\nfermi = 2\n");
    let report = course.learn(&["run"]).reports(&["wrong  hopper: 4", "ok  fermi: 2", "Word 32 is in the next line."]);
    assert!(!report.contains("five sectors"), "{report}");
    let report = course.learn(&["run"]).reports(&[
        "The simulator counts 5. Words 1 to 32 touch five sectors.",
        "32 lanes ask for 128 bytes; 5 sectors, 160 bytes, move: 80 % used.",
    ]);
    assert_eq!(report.matches("lane 0").count(), 1, "{report}");

    for (text, words) in [
        ("hopper = 5\n", "the line `fermi = ...` is missing"),
        ("hopper = 5\nfermi = 2\nkepler = 1\n", "there is no question 'kepler'; the questions are hopper, fermi"),
        ("hopper = \"five\"\nfermi = 2\n", "write a number in place of \"?\""),
        ("hopper = \n", "predict.toml cannot be read:\nline 1: write a number after `hopper =`"),
        ("hopper = 5\nfermi = two # or three\n", "line 2: fermi = two # or three: write a number in place of \"?\""),
        ("hopper = 5\nfermi =", "line 2: write a number after `fermi =`"),
        ("hopper = 5\n\nhopper = 6\n", "line 3: duplicate key"),
        ("hopper = 07\n", "line 1: unexpected leading zero"),
        ("hopper", "line 1: "),
        ("\u{fe}\r\n", "line 1: "),
        ("hopper = nan\nfermi = 2\n", "hopper = nan: write a number in place of \"?\""),
        ("hopper = 5\nfermi = \"inf\"\n", "fermi = \"inf\": write a number in place of \"?\""),
    ] {
        course.write("predict/predict.toml", text);
        course.learn(&["run"]).reports(&[words]);
    }

    course.write("predict/predict.toml", "hopper = 5.0\nfermi = 2\n");
    assert!(course.learn(&["run", "--report", path]).succeeds().contains("Solved."));
    let text = std::fs::read_to_string(&page).expect("the page is text");
    assert!(text.contains("5.00 sectors per request") && text.contains("160 bytes, move: 80 % used."), "{text}");
    assert_eq!(course.learn(&["solution", "predict"]).succeeds(), "hopper = 5\nfermi = 2\n");
}

#[test]
fn the_author_can_check_it() {
    if !has_compiler() {
        return;
    }
    let course = course();
    course.learn(&["check", "--jobs", "1"]).reports(&["wrong  predict", "run `cargo learn check --write-ptx`"]);
    course.learn(&["check", "--jobs", "1", "--write-ptx"]).succeeds();
    course.learn(&["check", "--jobs", "1"]).succeeds();
    course.write("predict/solution.toml", "hopper = 5\nfermi = 1\n");
    course.learn(&["check", "--jobs", "1"]).reports(&["wrong  predict", "the solution fails"]);
}
