//! The `results.json` of an external grader of PrairieLearn:
//! <https://prairielearn.readthedocs.io/en/latest/externalGrading/#grading-results>.
//!
//! A submission of which nothing could be judged is "not gradable", which costs no attempt.
//!
//! In the grader's container, whose image has this clone, compiled:
//!
//! ```sh
//! mkdir -p class /grade/results && cp -R /grade/student class/student
//! cargo learn grade class --only padding --format prairielearn --out /grade/results/results.json
//! ```

use serde::Serialize;

use crate::formats::{fitting, pretty, report};
use crate::marks::{Mark, Status, Student};

/// The longest file that PrairieLearn accepts.
const LONGEST_FILE: usize = 1_000_000;

#[derive(Serialize)]
struct Results {
    gradable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    format_errors: Vec<String>,
    tests: Vec<Test>,
}

#[derive(Serialize)]
struct Test {
    name: String,
    description: &'static str,
    points: f64,
    max_points: f64,
    output: String,
}

/// The file of a student.
pub fn of(student: &Student) -> String {
    fitting(LONGEST_FILE, |longest| results(student, longest))
}

/// The file, with reports of at most so many bytes.
fn results(student: &Student, longest: usize) -> String {
    let failed: Vec<&Mark> = student.marks.iter().filter(|mark| mark.status == Status::Failed).collect();
    let unread: Vec<&Mark> = student.marks.iter().filter(|mark| !was_run(mark.status)).collect();
    let bad = if unread.len() == student.marks.len() { unread } else { failed };
    let error = |mark: &&Mark| format!("{}: {}\n{}", mark.exercise, mark.status.words(), report(&mark.report, longest));
    let gradable = bad.is_empty();
    let all = student.max_points();
    let test = |mark: &Mark| Test {
        name: mark.exercise.clone(),
        description: mark.status.words(),
        points: mark.points,
        max_points: mark.max_points,
        output: report(&mark.report, longest),
    };
    pretty(&Results {
        gradable,
        score: gradable.then(|| if all > 0.0 { (student.points() / all).clamp(0.0, 1.0) } else { 0.0 }),
        message: student.summary(),
        format_errors: bad.iter().map(error).collect(),
        tests: student.marks.iter().map(test).collect(),
    })
}

/// Whether a file with this status was run, or an answer compared.
fn was_run(status: Status) -> bool {
    matches!(status, Status::Solved | Status::GoalsMissed | Status::Wrong | Status::TimedOut)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::formats::samples;
    use crate::formats::schema::{Kind, Rule, check};

    const GRADABLE: &[Rule] = &[
        Rule("gradable", Kind::Bool, false),
        Rule("score", Kind::From(0.0, 1.0), true),
        Rule("message", Kind::Text, false),
        Rule("output", Kind::Text, false),
        Rule("tests", Kind::Objects(TEST), false),
    ];
    const NOT_GRADABLE: &[Rule] = &[
        Rule("gradable", Kind::Bool, true),
        Rule("format_errors", Kind::Texts, false),
        Rule("message", Kind::Text, false),
        Rule("output", Kind::Text, false),
        Rule("tests", Kind::Objects(TEST), false),
    ];
    const TEST: &[Rule] = &[
        Rule("name", Kind::Text, false),
        Rule("description", Kind::Text, false),
        Rule("points", Kind::Number, false),
        Rule("max_points", Kind::Number, false),
        Rule("message", Kind::Text, false),
        Rule("output", Kind::Text, false),
    ];

    fn value(student: &Student) -> Value {
        serde_json::from_str(&of(student)).unwrap()
    }

    #[test]
    fn results_follow_the_documented_names_and_types() {
        let value = value(&samples::student("anna"));
        assert_eq!(check(&value, GRADABLE), Ok(()));
        assert_eq!((&value["gradable"], &value["score"]), (&true.into(), &0.5.into()));
        assert_eq!(value["tests"][3]["description"], "misses goals");
        assert_eq!(value["tests"][3]["points"], 0.5);
    }

    #[test]
    fn what_was_not_run_is_not_gradable() {
        for status in [Status::Failed, Status::DoesNotCompile, Status::Missing, Status::Refused, Status::Unreadable] {
            let value = value(&samples::with(status));
            assert_eq!(check(&value, NOT_GRADABLE), Ok(()), "{status:?}");
            assert_eq!(value["gradable"], false);
            let error = value["format_errors"][0].as_str().unwrap();
            assert!(error.starts_with(&format!("copy: {}\nwrong  <script>", status.words())), "{error}");
        }
        for status in [Status::Solved, Status::Wrong, Status::TimedOut] {
            assert_eq!(check(&value(&samples::with(status)), GRADABLE), Ok(()), "{status:?}");
        }
        // One that the judge failed at, beside others.
        let mut student = samples::student("anna");
        student.marks[1].status = Status::Failed;
        assert_eq!(value(&student)["format_errors"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn a_long_report_is_cut_until_the_file_is_accepted() {
        let text = of(&samples::verbose());
        assert!((LONGEST_FILE / 4..=LONGEST_FILE).contains(&text.len()), "{}", text.len());
        assert_eq!(check(&serde_json::from_str(&text).unwrap(), GRADABLE), Ok(()));
    }
}
