//! The marks of each student for each exercise, as a table, CSV and JSON; [`crate::junit`] has the
//! XML. [`crate::grade`] makes them and writes the texts.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use exercise::Exercise;
use serde::{Deserialize, Serialize};
use wording::{WIDTH, several};

use crate::error::{Error, Result};
use crate::report::cut;
use crate::terminal::{REPLACED, plain};
use crate::verdict::{Failure, Verdict};

/// The result for one file.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is right and meets all goals.
    Solved,
    /// It is right, but misses goals.
    GoalsMissed,
    /// Its results are wrong, or the sanitizer reports faults.
    Wrong,
    /// It does not compile.
    DoesNotCompile,
    /// Predictions that are not numbers, or not TOML.
    Unreadable,
    /// It contains something that a submission may not contain.
    Refused,
    /// It took too long.
    TimedOut,
    /// The judge failed.
    Failed,
    /// Nothing was handed in.
    Missing,
}

impl Status {
    /// The status for a verdict.
    pub fn of(verdict: &Verdict) -> Self {
        match &verdict.failure {
            None => Self::Solved,
            Some(Failure::Goals) => Self::GoalsMissed,
            Some(Failure::Refused(_)) => Self::Refused,
            Some(Failure::DoesNotCompile(_)) => Self::DoesNotCompile,
            Some(Failure::Unreadable(_)) => Self::Unreadable,
            Some(Failure::OutOfTime(..)) => Self::TimedOut,
            Some(_) => Self::Wrong,
        }
    }

    /// As text.
    pub fn words(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::GoalsMissed => "misses goals",
            Self::Wrong => "wrong",
            Self::DoesNotCompile => "does not compile",
            Self::Unreadable => "unreadable",
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
    /// Its status.
    pub status: Status,
    /// The report.
    pub report: String,
    /// The time in seconds: the processor's if that is less, as on a busy machine.
    #[serde(default)]
    pub seconds: f64,
    /// The digest of all that it depends on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl Mark {
    /// A mark that took no time. The report may have names and texts of strangers.
    pub fn of(exercise: &Exercise, status: Status, report: String) -> Self {
        Self { exercise: exercise.name.clone(), status, report: plain(&report), seconds: 0.0, digest: None }
    }
}

impl Mark {
    /// The report's first problem, on one line.
    fn reason(&self) -> String {
        let lines: Vec<&str> = self.report.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let begins = |start: &str| lines.iter().position(|line| line.starts_with(start));
        let first = match self.status {
            Status::Solved => return String::new(),
            Status::TimedOut => None,
            Status::DoesNotCompile => begins("error").or(begins(BAD)),
            _ => begins(BAD),
        };
        let mut rest = lines.iter().skip(first.unwrap_or(0));
        let line = rest.next().copied().unwrap_or_default();
        let line = line.strip_prefix(BAD).unwrap_or(line).trim_start();
        match line.ends_with(':') {
            true => format!("{line} {}", rest.next().copied().unwrap_or_default()),
            false => line.to_owned(),
        }
    }
}

/// A student's marks.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Student {
    /// The name of the student's folder.
    pub name: String,
    /// A mark for each exercise.
    pub marks: Vec<Mark>,
}

impl Student {
    /// How many of the marks have this status.
    pub fn count(&self, status: Status) -> usize {
        self.marks.iter().filter(|mark| mark.status == status).count()
    }
}

/// The marks of a class.
#[derive(Debug, Deserialize, Serialize)]
pub struct Marks {
    /// The seed of sizes and values.
    pub seed: u64,
    /// The students.
    pub students: Vec<Student>,
}

/// The mark of a problem in a report.
const BAD: &str = "wrong";

/// Columns of a student's name; longer ones are cut.
const NAME: usize = 24;

/// The statuses, with the heads of their columns, of at most seven letters.
const COLUMNS: [(Status, &str); 9] = [
    (Status::Solved, "solved"),
    (Status::GoalsMissed, "goals"),
    (Status::Wrong, "wrong"),
    (Status::DoesNotCompile, "rustc"),
    (Status::Unreadable, "unread"),
    (Status::Refused, "refused"),
    (Status::TimedOut, "time"),
    (Status::Failed, "error"),
    (Status::Missing, "missing"),
];

impl Marks {
    /// Reads what [`Marks::json`] was written to.
    ///
    /// # Errors
    ///
    /// [`Error::File`] for a file that cannot be read or has something else.
    pub fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).map_err(Error::reading(file))?;
        serde_json::from_str(&text).map_err(|error| Error::reading(file)(error.into()))
    }

    /// The mark of a student for an exercise.
    pub fn mark(&self, student: &str, exercise: &str) -> Option<&Mark> {
        let student = self.students.iter().find(|one| one.name == student)?;
        student.marks.iter().find(|mark| mark.exercise == exercise)
    }

    /// How many marks have this status.
    pub fn count(&self, status: Status) -> usize {
        self.students.iter().map(|student| student.count(status)).sum()
    }

    /// For the terminal: a line for each student, then a summary.
    pub fn table(&self) -> String {
        let several_exercises = self.students.iter().any(|student| student.marks.len() > 1);
        let mut text = if several_exercises { self.counts() } else { self.reasons() };
        if several_exercises {
            self.least_solved(&mut text);
        }
        let all = self.students.iter().filter(|student| student.count(Status::Solved) == student.marks.len()).count();
        let _ = writeln!(
            text,
            "{all} of {} solved all. To repeat this: --seed {}",
            several(self.students.len(), "student"),
            self.seed
        );
        text
    }

    fn name_width(&self) -> usize {
        self.students.iter().map(|student| shown(&student.name).chars().count()).max().unwrap_or(0).max("student".len())
    }

    /// For several exercises: how many of each status.
    fn counts(&self) -> String {
        let width = self.name_width();
        let used = |status| status == Status::Solved || self.students.iter().any(|student| student.count(status) > 0);
        let columns: Vec<_> = COLUMNS.into_iter().filter(|(status, _)| used(*status)).collect();
        let mut text = format!("{:width$}", "student");
        columns.iter().for_each(|(_, head)| text.push_str(&format!("  {head:>7}")));
        text.push('\n');
        for student in &self.students {
            let _ = write!(text, "{:width$}", shown(&student.name));
            for (status, _) in &columns {
                let _ = match student.count(*status) {
                    0 => write!(text, "  {:>7}", "."),
                    count => write!(text, "  {count:>7}"),
                };
            }
            text.push('\n');
        }
        let meanings: Vec<String> = columns
            .iter()
            .filter(|(status, head)| status.words() != *head)
            .map(|(status, head)| format!("{head}: {}", status.words()))
            .collect();
        text.push('\n');
        if !meanings.is_empty() {
            let _ = writeln!(text, "{}", meanings.join("; "));
        }
        text
    }

    /// For one exercise: the status and the reason.
    fn reasons(&self) -> String {
        const STATUS: usize = "does not compile".len();
        let width = self.name_width();
        let mut text = String::new();
        for student in &self.students {
            for mark in &student.marks {
                let line =
                    format!("{:width$}  {:STATUS$}  {}", shown(&student.name), mark.status.words(), mark.reason());
                let _ = writeln!(text, "{}", cut(line.trim_end(), WIDTH));
            }
        }
        text.push('\n');
        text
    }

    /// Names the exercises that fewest students have solved.
    fn least_solved(&self, text: &mut String) {
        const SHOWN: usize = 3;
        let Some(first) = self.students.first() else { return };
        let solved =
            |at: usize| self.students.iter().filter(|student| student.marks[at].status == Status::Solved).count();
        let mut counts: Vec<(usize, &str)> =
            first.marks.iter().enumerate().map(|(at, mark)| (solved(at), mark.exercise.as_str())).collect();
        counts.sort_by_key(|(count, _)| *count);
        let least = counts.iter().take(SHOWN).map(|(count, name)| format!("{name} ({count})"));
        let _ = writeln!(text, "solved least often: {}", least.collect::<Vec<_>>().join(", "));
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
}

/// A folder's name, for a line of a terminal.
fn shown(name: &str) -> String {
    let name = plain(name).replace('\n', &String::from(REPLACED));
    match name.chars().count() > NAME {
        true => name.chars().take(NAME - 3).chain("...".chars()).collect(),
        false => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(statuses: &[Status], report: &str) -> Marks {
        let mark = |&status: &Status| Mark {
            exercise: "copy".to_owned(),
            status,
            report: report.to_owned(),
            seconds: 0.0,
            digest: None,
        };
        let student = Student { name: "anna".to_owned(), marks: statuses.iter().map(mark).collect() };
        Marks { seed: 3, students: vec![student] }
    }

    #[test]
    fn a_long_reason_is_cut_after_a_word_with_dots() {
        let reason = format!("wrong  {}", "twelve chars ".repeat(9));
        let table = marks(&[Status::Wrong], &reason).table();
        let line = table.lines().next().unwrap();
        assert!(line.ends_with(" twelve chars ...") && line.chars().count() <= WIDTH, "{table}");
    }

    #[test]
    fn statuses_that_explain_themselves_need_no_line() {
        assert_eq!(
            marks(&[Status::Solved, Status::Missing], "").table(),
            "student   solved  missing\n\
             anna           1        1\n\
             \n\
             solved least often: copy (0), copy (1)\n\
             0 of 1 student solved all. To repeat this: --seed 3\n"
        );
        let table = marks(&[Status::Solved, Status::TimedOut], "").table();
        assert!(table.contains("1\n\ntime: timed out\nsolved least often"), "{table}");
    }
}
