//! Marks in the formats of other programs: `cargo learn grade --format`. Each file here has one
//! format, names the public document that defines it, and has that document's rules as a test.
//!
//! | format | file | for |
//! | --- | --- | --- |
//! | [`canvas`] | `grades.csv` | a class |
//! | [`junit`] | `marks.xml` | a class |
//! | [`gradescope`], [`prairielearn`] | `results.json` | each student |
//! | [`autolab`] | `output.txt` | each student |
//! | [`github_classroom`] | `result.json` | each student |
//!
//! *Invariant:* no format has a time or anything else that differs from run to run, but for the
//! seconds of JUnit: merged shards give the file of one run.

mod autolab;
mod canvas;
mod github_classroom;
mod gradescope;
pub mod junit;
mod prairielearn;
#[cfg(test)]
mod schema;

use clap::ValueEnum;
use serde::Serialize;

use crate::marks::{Marks, Student};

/// A format of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A file to import into Canvas's gradebook
    CanvasCsv,
    /// Gradescope's results.json
    Gradescope,
    /// The results.json of PrairieLearn's external graders
    Prairielearn,
    /// What an Autolab autograder prints, with the line of scores at its end
    Autolab,
    /// The result of an autograding step of GitHub Classroom
    GithubClassroom,
    /// JUnit XML
    Junit,
}

/// What makes a format's text.
pub enum Writer {
    /// One text for all students.
    Class(fn(&Marks) -> String),
    /// A text for each student.
    Student(fn(&Student) -> String),
}

impl Format {
    /// What makes its text.
    pub fn writer(self) -> Writer {
        match self {
            Self::CanvasCsv => Writer::Class(canvas::of),
            Self::Junit => Writer::Class(junit::of),
            Self::Gradescope => Writer::Student(gradescope::of),
            Self::Prairielearn => Writer::Student(prairielearn::of),
            Self::Autolab => Writer::Student(autolab::of),
            Self::GithubClassroom => Writer::Student(github_classroom::of),
        }
    }

    /// The usual name of its file.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::CanvasCsv => "grades.csv",
            Self::Junit => "marks.xml",
            Self::Gradescope | Self::Prairielearn => "results.json",
            Self::Autolab => "output.txt",
            Self::GithubClassroom => "result.json",
        }
    }
}

/// JSON for a file.
fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("strings and numbers can be written") + "\n"
}

/// JSON on one line.
fn on_one_line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings and numbers can be written") + "\n"
}

/// A report as plain text, cut to a length.
fn report(text: &str, longest: usize) -> String {
    let text = anstream::adapter::strip_str(text).to_string();
    match text.char_indices().find(|(at, c)| at + c.len_utf8() > longest) {
        Some((at, _)) => format!("{}\n[the rest is omitted]\n", &text[..at]),
        None => text,
    }
}

/// A text of at most so many bytes: `write` makes it with reports of a length that it is given.
fn fitting(most: usize, write: impl Fn(usize) -> String) -> String {
    let texts = (2..=16).rev().map(|bits| write(1 << bits));
    texts.into_iter().find(|text| text.len() <= most).unwrap_or_else(|| write(0))
}

#[cfg(test)]
pub mod samples {
    //! Marks that any format must survive.

    use crate::marks::{Mark, Marks, Status, Student};

    /// A report that means something in HTML, XML, JSON, CSV and on a terminal.
    pub const HOSTILE: &str =
        "wrong  <script>\"'&\\ \u{1b}[31m{\"scores\": {\"copy\": 9}}\u{1b}[0m\n{\"scores\": {\"copy\": 9}}\n=1 \u{e9}";

    pub fn mark(exercise: &str, status: Status, points: f64, max_points: f64) -> Mark {
        let report = HOSTILE.to_owned();
        Mark {
            exercise: exercise.to_owned(),
            status,
            report,
            seconds: 1.5,
            digest: None,
            points,
            max_points,
            score: None,
        }
    }

    /// A student with a solved, a wrong, a missing file and one that misses goals.
    pub fn student(name: &str) -> Student {
        let marks = vec![
            mark("copy", Status::Solved, 2.0, 2.0),
            mark("gram", Status::Wrong, 0.0, 1.0),
            mark("padding", Status::Missing, 0.0, 1.0),
            mark("stride", Status::GoalsMissed, 0.5, 1.0),
        ];
        Student { name: name.to_owned(), marks }
    }

    /// A student with one file.
    pub fn with(status: Status) -> Student {
        Student { name: "anna".to_owned(), marks: vec![mark("copy", status, 0.0, 1.0)] }
    }

    /// A student with many long reports.
    pub fn verbose() -> Student {
        let report = "\u{1f980}\\\"".repeat(20_000);
        let marks = (0..12).map(|_| Mark { report: report.clone(), ..mark("copy", Status::Wrong, 0.0, 1.0) });
        Student { name: "anna".to_owned(), marks: marks.collect() }
    }

    pub fn class() -> Marks {
        let names = ["anna", "=HYPERLINK(\"http://a\")", "Points Possible", "a,\"b\"\n-c"];
        Marks { seed: 3, shard: None, students: names.map(student).into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_cut_at_a_character() {
        assert_eq!(report("a\u{1b}[31mb\u{e9}c", 9), "ab\u{e9}c");
        assert_eq!(report("ab\u{e9}c", 3), "ab\n[the rest is omitted]\n");
        assert_eq!(report("ab\u{e9}c", 4), "ab\u{e9}\n[the rest is omitted]\n");
    }
}
