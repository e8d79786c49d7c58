//! Marks: of each student for each exercise, as a table, CSV, JSON and JUnit XML.

use std::fmt::Write as _;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report as JUnit, TestCase, TestCaseStatus, TestSuite};
use serde::{Deserialize, Serialize};

use crate::exercise::Exercise;
use crate::verdict::{Failure, Verdict};

/// What came of one file.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is right and meets all goals.
    Solved,
    /// It is right, and misses goals.
    GoalsMissed,
    /// Its results are wrong, or the sanitizer reports faults.
    Wrong,
    /// It does not compile.
    DoesNotCompile,
    /// It has something that may not stand in a submission.
    Refused,
    /// It took too long.
    TimedOut,
    /// The judge failed.
    Failed,
    /// Nothing was handed in.
    Missing,
}

impl Status {
    /// That of a verdict.
    pub fn of(verdict: &Verdict) -> Self {
        match &verdict.failure {
            None => Self::Solved,
            Some(Failure::Goals) => Self::GoalsMissed,
            Some(Failure::Refused(_)) => Self::Refused,
            Some(Failure::DoesNotCompile(_) | Failure::Unreadable(_)) => Self::DoesNotCompile,
            Some(_) => Self::Wrong,
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::GoalsMissed => "misses goals",
            Self::Wrong => "wrong",
            Self::DoesNotCompile => "does not compile",
            Self::Refused => "refused",
            Self::TimedOut => "timed out",
            Self::Failed => "not judged",
            Self::Missing => "missing",
        }
    }
}

/// The mark for one file.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Mark {
    /// The exercise.
    pub exercise: String,
    /// What came of it.
    pub status: Status,
    /// The report.
    pub report: String,
    /// How long it took, in seconds.
    #[serde(default)]
    pub seconds: f64,
}

impl Mark {
    /// A mark that took no time.
    pub fn of(exercise: &Exercise, status: Status, report: String) -> Self {
        Self { exercise: exercise.name.clone(), status, report, seconds: 0.0 }
    }
}

/// A student's marks.
#[derive(Clone, Debug, Serialize)]
pub struct Student {
    /// The name of the student's folder.
    pub name: String,
    /// A mark for each exercise.
    pub marks: Vec<Mark>,
}

impl Student {
    fn count(&self, status: Status) -> usize {
        self.marks.iter().filter(|mark| mark.status == status).count()
    }
}

/// The marks of a class.
#[derive(Debug, Serialize)]
pub struct Marks {
    /// What sizes and values were drawn from.
    pub seed: u64,
    /// The students.
    pub students: Vec<Student>,
}

impl Marks {
    /// A line for each student.
    pub fn table(&self) -> String {
        let widest = self.students.iter().map(|student| student.name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for student in &self.students {
            let of = student.marks.len();
            let _ = write!(text, "{:widest$}  {:3} of {of} solved", student.name, student.count(Status::Solved));
            for status in [
                Status::GoalsMissed,
                Status::Wrong,
                Status::DoesNotCompile,
                Status::Refused,
                Status::TimedOut,
                Status::Failed,
                Status::Missing,
            ] {
                let count = student.count(status);
                if count > 0 {
                    let _ = write!(text, ", {count} {}", status.words());
                }
            }
            text.push('\n');
        }
        text
    }

    /// As CSV: student, solved, of, and the status for each exercise.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let exercises = self.students.first().map(|student| student.marks.iter().map(|mark| mark.exercise.as_str()));
        let head = ["student", "solved", "of"].into_iter().chain(exercises.into_iter().flatten());
        // Writing to memory cannot fail.
        let _ = writer.write_record(head);
        for student in &self.students {
            let counts =
                [student.name.clone(), student.count(Status::Solved).to_string(), student.marks.len().to_string()];
            let words = student.marks.iter().map(|mark| mark.status.words().to_owned());
            let _ = writer.write_record(counts.into_iter().chain(words));
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }

    /// As JSON: the seed, and for each student the marks with their reports.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("strings and numbers can be written");
        text.push('\n');
        text
    }

    /// As JUnit XML: a suite for each student, a case for each exercise.
    pub fn junit(&self) -> String {
        let mut report = JUnit::new("coalesce");
        for student in &self.students {
            let mut suite = TestSuite::new(student.name.as_str());
            for mark in &student.marks {
                let status = match mark.status {
                    Status::Solved => TestCaseStatus::success(),
                    Status::Missing => {
                        let mut skipped = TestCaseStatus::skipped();
                        skipped.set_message(mark.status.words());
                        skipped
                    }
                    Status::TimedOut | Status::Failed => bad(NonSuccessKind::Error, mark),
                    _ => bad(NonSuccessKind::Failure, mark),
                };
                let mut case = TestCase::new(mark.exercise.as_str(), status);
                case.set_time(Duration::from_secs_f64(mark.seconds.max(0.0)));
                suite.add_test_case(case);
            }
            report.add_test_suite(suite);
        }
        report.to_string().expect("the report is text")
    }
}

fn bad(kind: NonSuccessKind, mark: &Mark) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(mark.status.words()).set_description(mark.report.as_str());
    status
}
