//! The marks of each student for each exercise, as a table, CSV and JSON; [`crate::formats`] has what
//! other programs read. [`crate::grade`] makes them and writes the texts.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use exercise::Exercise;
use exercise::points::Points;
use serde::{Deserialize, Serialize};
use wording::{WIDTH, several};

use crate::cells::{self, row};
use crate::error::{Error, Result};
use crate::leaderboard::{Entry, Score};
use crate::report::cut;
use crate::shards::Shard;
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
    /// The points for it ([`Marks::award`]).
    #[serde(default)]
    pub points: f64,
    /// The points of the exercise.
    #[serde(default)]
    pub max_points: f64,
    /// What it reaches in an open exercise that it solves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
}

impl Mark {
    /// A mark that took no time and has no points yet. The report may have names and texts of strangers.
    pub fn of(exercise: &Exercise, status: Status, report: String) -> Self {
        Self {
            exercise: exercise.name.clone(),
            status,
            report: plain(&report),
            seconds: 0.0,
            digest: None,
            points: 0.0,
            max_points: 0.0,
            score: None,
        }
    }

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

    /// The student's points.
    pub fn points(&self) -> f64 {
        hundredths(self.marks.iter().map(|mark| mark.points).sum())
    }

    /// The points of all exercises.
    pub fn max_points(&self) -> f64 {
        hundredths(self.marks.iter().map(|mark| mark.max_points).sum())
    }

    /// What a student reads first.
    pub fn summary(&self) -> String {
        let (solved, all) = (self.count(Status::Solved), several(self.marks.len(), "exercise"));
        format!("{solved} of {all} solved, {} of {}", self.points(), several_points(self.max_points()))
    }
}

/// Without the noise of sums of binary fractions.
fn hundredths(points: f64) -> f64 {
    (points * 100.0).round() / 100.0
}

fn several_points(points: f64) -> String {
    format!("{points} point{}", if points == 1.0 { "" } else { "s" })
}

/// The marks of a class.
#[derive(Debug, Deserialize, Serialize)]
pub struct Marks {
    /// The seed of sizes and values.
    pub seed: u64,
    /// Which part of the class this is, if not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
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

    /// Gives each mark its points.
    pub fn award(&mut self, points: &Points) {
        for mark in self.students.iter_mut().flat_map(|student| &mut student.marks) {
            let share = match mark.status {
                Status::Solved => 1.0,
                Status::GoalsMissed => points.share_of_missed_goals(),
                _ => 0.0,
            };
            mark.max_points = points.of(&mark.exercise);
            mark.points = hundredths(share * mark.max_points);
        }
    }

    /// The mark of a student for an exercise.
    pub fn mark(&self, student: &str, exercise: &str) -> Option<&Mark> {
        let student = self.students.iter().find(|one| one.name == student)?;
        student.marks.iter().find(|mark| mark.exercise == exercise)
    }

    /// The lines of a leaderboard: all scores.
    pub fn scores(&self) -> Vec<Entry> {
        let of =
            |(student, mark): (&Student, &Mark)| Some(Entry::new(&mark.exercise, &student.name, mark.score.as_ref()?));
        let all = self.students.iter().flat_map(|student| student.marks.iter().map(move |mark| (student, mark)));
        all.filter_map(of).collect()
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
        let first = self.students.first().map_or(&[][..], |student| &student.marks);
        let head = ["student", "solved", "of"].map(str::to_owned);
        let mut file = row(head.into_iter().chain(first.iter().map(|mark| cells::text(&mark.exercise))));
        for student in &self.students {
            let counts = [student.count(Status::Solved), student.marks.len()].map(|count| count.to_string());
            let words = student.marks.iter().map(|mark| mark.status.words().to_owned());
            file += &row(std::iter::once(cells::text(&student.name)).chain(counts).chain(words));
        }
        file
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
            points: 0.0,
            max_points: 0.0,
            score: None,
        };
        let student = Student { name: "anna".to_owned(), marks: statuses.iter().map(mark).collect() };
        Marks { seed: 3, shard: None, students: vec![student] }
    }

    #[test]
    fn a_long_reason_is_cut_after_a_word_with_dots() {
        let reason = format!("wrong  {}", "twelve chars ".repeat(9));
        let table = marks(&[Status::Wrong], &reason).table();
        let line = table.lines().next().unwrap();
        assert!(line.ends_with(" twelve chars ...") && line.chars().count() <= WIDTH, "{table}");
    }

    #[test]
    fn points_are_those_of_the_course() {
        let mut marks = marks(&[Status::Solved, Status::GoalsMissed, Status::Wrong], "");
        ["copy", "gram", "wide"].iter().zip(&mut marks.students[0].marks).for_each(|(name, mark)| {
            (*name).clone_into(&mut mark.exercise);
        });
        let of = |marks: &Marks| marks.students[0].marks.iter().map(|mark| mark.points).collect::<Vec<_>>();
        marks.award(&Points::default());
        assert_eq!(of(&marks), [1.0, 0.0, 0.0]);
        assert_eq!(marks.students[0].summary(), "1 of 3 exercises solved, 1 of 3 points");
        let points = "each = 0.1\ngoals_missed = 0.333\nexercises = { gram = 0.2 }";
        marks.award(&toml::from_str(points).unwrap());
        assert_eq!(of(&marks), [0.1, 0.07, 0.0]);
        assert_eq!((marks.students[0].points(), marks.students[0].max_points()), (0.17, 0.4));
    }

    #[test]
    fn a_students_name_is_no_formula_in_the_table() {
        let mut marks = marks(&[Status::Solved], "");
        "=HYPERLINK(\"http://a\";1)".clone_into(&mut marks.students[0].name);
        assert_eq!(marks.csv(), "student,solved,of,copy\n\"'=HYPERLINK(\"\"http://a\"\";1)\",1,1,solved\n");
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
