//! What an Autolab autograder prints: the reports, and as the last line the scores
//! (<https://docs.autolabproject.com/lab/#writing-autograders>); before it the line that shows
//! them as a table (<https://docs.autolabproject.com/features/formatted-feedback/>).
//!
//! A lab in Autolab has a problem for each exercise, of the same name. A file that was not judged
//! has no score. The rule of `autograde-Makefile`, in an image that has this clone, compiled:
//!
//! ```sh
//! mkdir -p class/student/padding && cp kernel.rs class/student/padding/
//! cd CLONE && cargo learn grade "$OLDPWD/class" --only padding --format autolab
//! ```
//!
//! *Invariant:* no line of a report begins with a brace, so that none is taken for the scores.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::formats::{on_one_line, report};
use crate::marks::{Mark, Status, Student};

/// Bytes of a report.
const LONGEST: usize = 1 << 16;

/// The stage of the table.
const STAGE: &str = "Exercises";

#[derive(Serialize)]
struct Autoresult {
    scores: Map<String, Value>,
}

/// The text for a student.
pub fn of(student: &Student) -> String {
    let mut text = String::new();
    for mark in &student.marks {
        let _ = writeln!(text, "{}: {}", mark.exercise, mark.status.words());
        for line in report(&mark.report, LONGEST).lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    let map = |of: fn(&Mark) -> Option<Value>| -> Map<String, Value> {
        student.marks.iter().filter_map(|mark| Some((mark.exercise.clone(), of(mark)?))).collect()
    };
    let results = map(|mark| match mark.status {
        Status::Solved => Some(json!({"passed": true})),
        status => Some(json!({"passed": false, "hint": status.words()})),
    });
    text += &on_one_line(&json!({"_presentation": "semantic", "stages": [STAGE], STAGE: results}));
    text +=
        &on_one_line(&Autoresult { scores: map(|mark| (mark.status != Status::Failed).then(|| mark.points.into())) });
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::samples;
    use crate::formats::schema::{Kind, Rule, check};

    fn last_two(text: &str) -> [Value; 2] {
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[..lines.len() - 2].iter().all(|line| !line.starts_with('{')), "{text}");
        [lines.len() - 2, lines.len() - 1].map(|at| serde_json::from_str(lines[at]).unwrap())
    }

    #[test]
    fn the_last_line_has_the_scores() {
        let text = of(&samples::student("anna"));
        let [table, scores] = last_two(&text);
        assert_eq!(check(&scores, &[Rule("scores", Kind::Numbers, true)]), Ok(()));
        assert_eq!(scores, json!({"scores": {"copy": 2.0, "gram": 0.0, "padding": 0.0, "stride": 0.5}}));
        assert_eq!((&table["_presentation"], &table["stages"]), (&"semantic".into(), &json!(["Exercises"])));
        assert_eq!(table["Exercises"]["copy"], json!({"passed": true}));
        assert_eq!(table["Exercises"]["padding"], json!({"passed": false, "hint": "missing"}));
        assert!(text.starts_with("copy: solved\n    wrong  <script>"), "{text}");
    }

    #[test]
    fn what_was_not_judged_has_no_score() {
        let [_, scores] = last_two(&of(&samples::with(Status::Failed)));
        assert_eq!(scores, json!({"scores": {}}));
    }
}
