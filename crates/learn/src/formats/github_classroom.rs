//! The result of an autograding step of GitHub Classroom, which its reporter reads, in base64:
//! <https://github.com/classroom-resources/autograding-grading-reporter>, and as the graders write
//! it: <https://github.com/classroom-resources/autograding-command-grader>.
//!
//! ```yaml
//! - id: coalesce
//!   run: echo "result=$(cargo learn grade ../submissions --format github-classroom | base64 -w0)" >> "$GITHUB_OUTPUT"
//! - uses: classroom-resources/autograding-grading-reporter@v1
//!   env:
//!     COALESCE_RESULTS: ${{ steps.coalesce.outputs.result }}
//!   with:
//!     runners: coalesce
//! ```
//!
//! *Invariant:* no message has a command of GitHub Actions
//! (<https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>): the
//! reporter prints messages, and the log of a workflow obeys.

use serde::Serialize;

use crate::formats::{fitting, on_one_line, report};
use crate::marks::{Mark, Status, Student};

/// The longest result. The reporter gets it as a variable of its environment, in base64, and Linux
/// refuses one of 128 KiB.
const LONGEST: usize = 90_000;

#[derive(Serialize)]
struct Results {
    version: u32,
    status: &'static str,
    max_score: f64,
    tests: Vec<Test>,
}

#[derive(Serialize)]
struct Test {
    name: String,
    status: &'static str,
    score: f64,
    message: String,
    test_code: &'static str,
    filename: String,
    line_no: u32,
}

/// The result of a student.
pub fn of(student: &Student) -> String {
    fitting(LONGEST, |longest| result(student, longest))
}

/// The result, with reports of at most so many bytes.
fn result(student: &Student, longest: usize) -> String {
    let all = |status| student.count(status) == student.marks.len();
    let status = match student.count(Status::Failed) {
        0 if all(Status::Solved) => "pass",
        0 => "fail",
        _ => "error",
    };
    let tests = student.marks.iter().map(|mark| test(mark, longest)).collect();
    on_one_line(&Results { version: 1, status, max_score: student.max_points(), tests })
}

fn test(mark: &Mark, longest: usize) -> Test {
    let status = match mark.status {
        Status::Solved => "pass",
        Status::Failed => "error",
        _ => "fail",
    };
    let message = match mark.status {
        Status::Solved => String::new(),
        other => format!("{}\n{}", other.words(), without_commands(&report(&mark.report, longest))),
    };
    Test {
        name: mark.exercise.clone(),
        status,
        score: mark.points,
        message,
        test_code: "",
        filename: String::new(),
        line_no: 0,
    }
}

/// The text, in which no line begins with `::`, and none has `##[`.
fn without_commands(text: &str) -> String {
    let line = |line: &str| match line.trim_start().strip_prefix("::") {
        Some(rest) => format!(": :{rest}"),
        None => line.to_owned(),
    };
    let lines: Vec<String> = text.split('\n').map(line).collect();
    lines.join("\n").replace("##[", "# #[")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::formats::samples;
    use crate::formats::schema::{Kind, Rule, check};

    const STATUS: Kind = Kind::OneOf(&["pass", "fail", "error"]);
    const RESULTS: &[Rule] = &[
        Rule("version", Kind::From(1.0, 1.0), true),
        Rule("status", STATUS, true),
        Rule("max_score", Kind::Number, true),
        Rule(
            "tests",
            Kind::Objects(&[
                Rule("name", Kind::Text, true),
                Rule("status", STATUS, true),
                Rule("score", Kind::Number, true),
                Rule("message", Kind::Text, false),
                Rule("test_code", Kind::Text, false),
                Rule("filename", Kind::Text, false),
                Rule("line_no", Kind::Number, false),
            ]),
            true,
        ),
    ];

    fn value(student: &Student) -> Value {
        let text = of(student);
        assert_eq!(text.lines().count(), 1, "an output of a step is one line");
        let value = serde_json::from_str(&text).unwrap();
        assert_eq!(check(&value, RESULTS), Ok(()));
        value
    }

    #[test]
    fn the_reporter_finds_the_points() {
        let value = value(&samples::student("anna"));
        assert_eq!((&value["status"], &value["max_score"]), (&"fail".into(), &5.0.into()));
        // As the reporter adds them.
        let scores = value["tests"].as_array().unwrap().iter().map(|test| test["score"].as_f64().unwrap());
        assert_eq!(scores.sum::<f64>(), 2.5);
        assert_eq!(value["tests"][0]["message"], "");
        assert!(value["tests"][1]["message"].as_str().unwrap().starts_with("wrong\nwrong  <script>"));
    }

    #[test]
    fn a_report_gives_no_commands() {
        let text = "a::b\n::error::x\n  ::add-mask::1\n#[kernel] ##[command]";
        assert_eq!(without_commands(text), "a::b\n: :error::x\n: :add-mask::1\n#[kernel] # #[command]");
        let mut student = samples::with(Status::Wrong);
        "::error::x".clone_into(&mut student.marks[0].report);
        assert_eq!(value(&student)["tests"][0]["message"], "wrong\n: :error::x");
    }

    #[test]
    fn long_reports_are_cut_until_the_variable_is_accepted() {
        let length = of(&samples::verbose()).len();
        assert!((LONGEST / 4..=LONGEST).contains(&length), "{length}");
        value(&samples::verbose());
    }

    #[test]
    fn the_status_is_that_of_all_tests() {
        for (status, word) in [(Status::Solved, "pass"), (Status::Missing, "fail"), (Status::Failed, "error")] {
            let value = value(&samples::with(status));
            assert_eq!((&value["status"], &value["tests"][0]["status"]), (&word.into(), &word.into()));
        }
    }
}
