//! Tests of the commands for authors: `new` and `check`. They write only into courses of their own.

use super::*;

#[test]
fn names_of_new_exercises_are_plain() {
    let course = Course::new(&["copy"]);
    for name in ["", "Copy", "a-b", "a b", "../a", "a/b", "ä", "."] {
        course.learn(&["new", name]).refuses(&["names have lower-case letters, digits and _"]);
    }
    course.learn(&["new", "copy"]).refuses(&["already exists; choose another name"]);
}

#[test]
fn a_new_exercise_is_green_once_the_course_lists_it() {
    let course = Course::new(&["copy"]);
    course.learn(&["new", "my_exercise"]).succeeds();
    let expected = "course.toml: exercise 'my_exercise' is not listed: add it to a chapter";
    course.learn(&["hint", "my_exercise"]).refuses(&[expected]);
    if has_compiler() {
        course.learn(&["check", "my_exercise"]).reports(&["wrong  my_exercise", expected]);
        course.list(&["copy", "my_exercise"]);
        course.learn(&["check", "my_exercise"]).succeeds();
    }
}

#[test]
fn a_check_by_no_job_is_refused() {
    Course::new(&["copy"]).learn(&["check", "--jobs", "0"]).refuses(&["invalid value '0'"]);
}

#[test]
#[ignore = "long: `.ci/run` runs it"]
fn a_good_exercise_is_green_and_each_fault_of_one_is_found() {
    if !has_compiler() {
        return;
    }
    /// Mistakes of authors: the exercise, a file, a text and its replacement, and what must be
    /// reported.
    const FAULTS: [(&str, &str, &str, &str, &[&str]); 13] = [
        ("good", "hints.md", "How many", "How many", &[]),
        ("solution", "solution.rs", "i < n", "i <= n", &["the solution fails (seed 1)", "memory: out of bounds"]),
        ("starter", "starter.rs", "    *output", "    if i < n { *output", &["the starter passes"]),
        ("words", "goals.toml", "\"memory\"", "\"race\"", &["the starter fails without the words \"race\""]),
        ("passes", "wrong/one_too_many.rs", "i <= n", "i < n", &["wrong/one_too_many.rs passes"]),
        (
            "headless",
            "wrong/one_too_many.rs",
            "// fails: ",
            "// ",
            &["wrong/one_too_many.rs: its first line does not say what fails: `// fails: WORDS`, or `# fails: WORDS`"],
        ),
        (
            "lacking",
            "wrong/forgets_the_end.diff",
            "-    if i < n {",
            "-    if i > n {",
            &["wrong/forgets_the_end.diff: line 4: what is to change is not in the solution"],
        ),
        ("hint", "hints.md", "---", "", &["hints.md has 1 hint, and should have 2 to 5"]),
        ("wide", "starter.rs", "//! Say what", WIDE, &["starter.rs:7: more than 100 columns"]),
        ("reference", "reference.rs", "0..n as usize", "0..n as usize + 1", &["reference.rs: at n = 1: out of bounds"]),
        ("compiles", "reference.rs", "*output.add(i)", "output.add(i)", &["reference.rs: it does not compile"]),
        (
            "goal",
            "goals.toml",
            "<= 4.1",
            "<= 3.9",
            &["the solution fails", "wrong  loads.sectors_per_request is 4; goal: at most 3.9"],
        ),
        (
            "met",
            "goals.toml",
            "task = \"right\"",
            "task = \"fast\"",
            &["the starter meets the goal `loads.sectors_per_request <= 4.1` already"],
        ),
    ];
    const WIDE: &str = concat!(
        "//! This line is much too wide for the pages and the terminals that it is to be read on, as the count ",
        "of its columns shows, and"
    );
    let names: Vec<&str> = FAULTS.iter().map(|(name, ..)| *name).collect();
    let course = Course::new(&names);
    for (name, file, from, to, _) in FAULTS {
        course.change(&format!("{name}/{file}"), from, to);
    }
    course.change("starter/starter.rs", ";\n}", "; }\n}");
    // The starter meets its only goal already.
    course.write("met/starter.rs", &course.read("met/solution.rs"));
    course.change("met/goals.toml", "also = true", "also = false");

    let outcome = course.learn(&["check", "--jobs", "1"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.text());
    assert!(
        outcome.stdout.ends_with(&format!("{} of {} exercises must be corrected.\n", names.len() - 1, names.len())),
        "{}",
        outcome.text()
    );
    assert!(outcome.stdout.contains("   ok  good"), "{}", outcome.text());
    for (name, .., expected) in FAULTS.iter().filter(|(.., expected)| !expected.is_empty()) {
        let (_, report) = outcome
            .stdout
            .split_once(&format!("wrong  {name}\n"))
            .unwrap_or_else(|| panic!("{name}: {}", outcome.text()));
        let end =
            names.iter().filter_map(|other| report.find(&format!("\nwrong  {other}\n"))).min().unwrap_or(report.len());
        for words in *expected {
            assert!(report[..end].contains(words), "{name}: there is no '{words}' in\n{}", &report[..end]);
        }
    }
}

#[test]
fn what_is_wrong_with_goals_is_said_with_its_line() {
    let course = Course::new(&["copy"]);
    let good = course.read("copy/goals.toml");
    for (from, to, expected) in [
        ("minutes = 10", "minutes = \"ten\"", &["goals.toml: ", "line 3", "invalid type"][..]),
        ("minutes = 10", "minuets = 10", &["line 3", "unknown field `minuets`, expected one of `title`"]),
        (
            "task = \"right\"",
            "task = \"easy\"",
            &["line 2", "unknown variant `easy`, expected one of `right`, `fast`, `explain`"],
        ),
        ("length = \"n\"", "length = \"n +\"", &["'n +': a number or a name is missing at the end"]),
        ("length = \"n\"", "", &["data 'input': give a length, or rows and columns"]),
        ("from = 2", "from = 9000", &["size 'n': there is no value from 9000 to 5000"]),
        ("[measured]\nn", "[measured]\nm", &["[measured] has a size 'm' that [sizes] lacks"]),
        ("starter_fails = \"memory\"", "", &["starter_fails is missing"]),
        ("loads.sectors_per_request <=", "loads.sectors_per_request =", &["a goal needs <=, <, ==, >= or >"]),
        ("loads.sectors_per_request <=", "pascal2: loads.sectors <=", &["unknown model 'pascal2'; there are g80,"]),
        ("task = \"right\"", "task = \"explain\"", &["an exercise to explain needs a [[question]]"]),
        ("title =", "title", &["line 1"]),
    ] {
        assert!(good.contains(from), "{from}");
        course.write("copy/goals.toml", &good.replacen(from, to, 1));
        course.learn(&["run", "copy"]).refuses(expected);
    }
    std::fs::write(course.path("copy/goals.toml"), b"title = \"\xff\"\n").unwrap();
    course.learn(&["run", "copy"]).refuses(&["goals.toml: cannot be read"]);
    std::fs::remove_file(course.path("copy/goals.toml")).unwrap();
    course.learn(&["run", "copy"]).refuses(&["goals.toml: cannot be read"]);

    course.write("course.toml", "[[chapter]]\ntitle = \"Twice\"\nexercises = [\"copy\", \"copy\"]\n");
    course.learn(&["list"]).refuses(&["course.toml: exercise 'copy' is listed twice"]);
    course.write("course.toml", "[[chapter]\n");
    course.learn(&["list"]).refuses(&["course.toml: ", "line 1"]);
}

#[test]
fn what_only_a_run_finds_wrong_with_goals_is_the_exercises_fault() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    course.write("copy/kernel.rs", &course.read("copy/solution.rs"));
    let good = course.read("copy/goals.toml");
    for (from, to, expected) in [
        ("grid = \"ceil(n / 256)\"", "grid = \"n / 256\"", "'n / 256' is 0.00390625, and must be a whole number"),
        ("grid = \"ceil(n / 256)\"", "grid = \"ceil(m / 256)\"", "unknown name 'm'"),
        ("length = \"n\"", "length = \"n * n * n\"", "must be a whole number from 0 to"),
        ("<= 4.1", "<= 4.1 * q", "unknown name 'q'"),
    ] {
        assert!(good.contains(from), "{from}");
        course.write("copy/goals.toml", &good.replacen(from, to, 1));
        course.learn(&["run", "copy"]).refuses(&["copy/goals.toml: ", expected]);
    }
}

#[test]
fn a_reference_to_data_is_a_slice_or_a_matrix_in_a_safe_kernel() {
    if !has_compiler() {
        return;
    }
    let course = Course::new(&["copy"]);
    course.write(
        "copy/goals.toml",
        r#"title = "Row by row"
task = "right"
minutes = 5
starter_fails = "output[1]"

[sizes]
rows = { always = [1, 9], from = 2, to = 40 }
columns = { always = [1, 33], from = 2, to = 70 }

[data.input]
type = "f32"
rows = "rows"
columns = "columns"
pitched = true
[data.factors]
type = "f32"
length = "rows"
[data.output]
type = "f32"
rows = "rows"
columns = "columns"
output = true

[[launch]]
kernel = "scale"
grid = ["ceil(columns / 32)", "ceil(rows / 8)"]
block = [32, 8]
arguments = ["&input", "&factors", "&output"]

[answer]
kernel = "reference"
arguments = ["input", "input.pitch", "factors", "output", "rows", "columns"]
"#,
    );
    course.write(
        "copy/reference.rs",
        "use cuda_std::prelude::*;
/// # Safety
/// One thread; the pointers are to matrices and factors of these sizes.
#[kernel]
pub unsafe fn reference(
    input: *const f32, pitch: usize, factors: *const f32, output: *mut f32, rows: usize, columns: usize,
) {
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        *output.add(row * columns + column) = *factors.add(row) * *input.add(row * pitch + column);
    }
}
",
    );
    let scale = |factor: &str| {
        format!(
            "use cuda_std::prelude::*;
#[kernel(block(32, 8))]
pub fn scale(input: Matrix<f32>, factors: &[f32], mut output: DisjointMatrix<f32>) {{
    let at = thread::position();
    if let (Some(from), Some(to)) = (input.get(at.row(), at.col()), output.get_mut(at)) {{
        *to = {factor} * from;
    }}
}}
"
        )
    };
    for file in ["copy/solution.rs", "copy/kernel.rs"] {
        course.write(file, &scale("factors[at.row() as usize]"));
    }
    course.learn(&["run"]).succeeds();
    course.write("copy/kernel.rs", &scale("factors[0]"));
    course.learn(&["run"]).reports(&["output[1]"]);
    course.write("copy/kernel.rs", &scale("factors[factors.len() + at.row() as usize]"));
    course.learn(&["run"]).reports(&["stopped: trap: a check of Rust failed", "copy/kernel.rs:6"]);
    let other_block = scale("factors[at.row() as usize]").replace("block(32, 8)", "block(16, 16)");
    course.write("copy/kernel.rs", &other_block);
    course.learn(&["run"]).reports(&["kernel `scale` is compiled for blocks of [16, 16, 1] threads"]);
    let a_vector = scale("factors[0]").replace("factors: &[f32]", "factors: Matrix<f32>").replace("factors[0]", "2.0");
    course.write("copy/kernel.rs", &a_vector);
    course.learn(&["run"]).reports(&["has 12 parameters", "launched with 10 (a slice counts as two,"]);
}
