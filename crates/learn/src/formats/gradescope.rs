//! The `results.json` of a Gradescope autograder, by its output format:
//! <https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format>.
//!
//! The score is the sum of those of the tests, as Gradescope adds them.

use serde::Serialize;

use crate::formats::{pretty, report};
use crate::marks::{Mark, Status, Student};

/// Bytes of a test's output.
const LONGEST: usize = 1 << 16;

#[derive(Serialize)]
struct Results {
    output: String,
    tests: Vec<Test>,
}

#[derive(Serialize)]
struct Test {
    name: String,
    score: f64,
    max_score: f64,
    status: &'static str,
    output: String,
    output_format: &'static str,
}

/// The file of a student.
pub fn of(student: &Student) -> String {
    pretty(&Results { output: student.summary(), tests: student.marks.iter().map(test).collect() })
}

fn test(mark: &Mark) -> Test {
    Test {
        name: format!("{}: {}", mark.exercise, mark.status.words()),
        score: mark.points,
        max_score: mark.max_points,
        status: if mark.status == Status::Solved { "passed" } else { "failed" },
        output: report(&mark.report, LONGEST),
        // Without it, a report could have markup.
        output_format: "text",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::formats::samples;
    use crate::formats::schema::{Kind, Rule, check};

    const VISIBILITY: Kind = Kind::OneOf(&["hidden", "after_due_date", "after_published", "visible"]);
    const FORMAT: Kind = Kind::OneOf(&["text", "html", "simple_format", "md", "ansi"]);
    const RESULTS: &[Rule] = &[
        Rule("score", Kind::Number, false),
        Rule("execution_time", Kind::Number, false),
        Rule("output", Kind::Text, false),
        Rule("output_format", FORMAT, false),
        Rule("visibility", VISIBILITY, false),
        Rule("stdout_visibility", VISIBILITY, false),
        Rule("tests", Kind::Objects(TEST), true),
    ];
    const TEST: &[Rule] = &[
        // Required here, because there is no score above.
        Rule("score", Kind::Number, true),
        Rule("max_score", Kind::Number, false),
        Rule("status", Kind::OneOf(&["passed", "failed"]), false),
        Rule("name", Kind::Text, false),
        Rule("name_format", FORMAT, false),
        Rule("number", Kind::Text, false),
        Rule("output", Kind::Text, false),
        Rule("output_format", FORMAT, false),
        Rule("tags", Kind::Texts, false),
        Rule("visibility", VISIBILITY, false),
    ];

    #[test]
    fn results_follow_the_output_format() {
        let value: Value = serde_json::from_str(&of(&samples::student("anna"))).unwrap();
        assert_eq!(check(&value, RESULTS), Ok(()));
        assert_eq!(value["output"], "1 of 4 exercises solved, 2.5 of 5 points");
        let tests = value["tests"].as_array().unwrap();
        let column = |name: &str| tests.iter().map(|test| test[name].clone()).collect::<Vec<_>>();
        assert_eq!(column("score"), [2.0, 0.0, 0.0, 0.5]);
        assert_eq!(column("max_score"), [2.0, 1.0, 1.0, 1.0]);
        assert_eq!(column("status"), ["passed", "failed", "failed", "failed"]);
        assert_eq!(column("name"), ["copy: solved", "gram: wrong", "padding: missing", "stride: misses goals"]);
        assert!(!tests[1]["output"].as_str().unwrap().contains('\u{1b}'));
    }
}
