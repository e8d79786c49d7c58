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

use serde::Serialize;

use crate::formats::{on_one_line, report};
use crate::marks::{Mark, Status, Student};

/// Bytes of a test's message. An output of a step has at most 1 MiB, in base64.
const LONGEST: usize = 1 << 12;

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
    let all = |status| student.count(status) == student.marks.len();
    let status = match student.count(Status::Failed) {
        0 if all(Status::Solved) => "pass",
        0 => "fail",
        _ => "error",
    };
    let tests = student.marks.iter().map(test).collect();
    on_one_line(&Results { version: 1, status, max_score: student.max_points(), tests })
}

fn test(mark: &Mark) -> Test {
    let status = match mark.status {
        Status::Solved => "pass",
        Status::Failed => "error",
        _ => "fail",
    };
    let message = match mark.status {
        Status::Solved => String::new(),
        other => format!("{}\n{}", other.words(), report(&mark.report, LONGEST)),
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
    fn the_status_is_that_of_all_tests() {
        for (status, word) in [(Status::Solved, "pass"), (Status::Missing, "fail"), (Status::Failed, "error")] {
            let value = value(&samples::with(status));
            assert_eq!((&value["status"], &value["tests"][0]["status"]), (&word.into(), &word.into()));
        }
    }
}
