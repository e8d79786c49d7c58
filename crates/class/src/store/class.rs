//! All students together: for the teacher's pages and for marks.

use std::collections::HashMap;

use sqlx::any::AnyRow;

use super::{Dialect, Store, each, maybe_text, number, text};
use crate::Millis;
use crate::error::{Error, Result};
use crate::settings::Limits;

/// A student's runs of an exercise, counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The student.
    pub student: String,
    /// The exercise.
    pub exercise: String,
    /// How many runs.
    pub runs: u64,
    /// How many of them are submissions.
    pub submissions: u64,
    /// Whether one is solved.
    pub solved: bool,
    /// When the last one was accepted.
    pub last: Millis,
}

/// A submission for which a mark may be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The run.
    pub run: i64,
    /// The student.
    pub student: String,
    /// The exercise.
    pub exercise: String,
    /// When it was accepted.
    pub queued: Millis,
    /// The status, as `learn grade` writes it; `None` if it is not judged yet.
    pub status: Option<String>,
}

/// A run of an exercise, for a table over time and the lines where most fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOfExercise {
    /// The run.
    pub run: i64,
    /// The student.
    pub student: String,
    /// When it was accepted.
    pub queued: Millis,
    /// The status.
    pub status: String,
    /// The places of its verdict, as JSON.
    pub places: String,
    /// The digest of its text: the same for the same text.
    pub digest: String,
}

impl Counted {
    fn of(row: &AnyRow) -> Result<Self> {
        Ok(Self {
            run: number(row, 0)?,
            student: text(row, 1)?,
            exercise: text(row, 2)?,
            queued: number(row, 3)?,
            status: maybe_text(row, 4)?,
        })
    }
}

impl Store {
    /// Keeps the limits of the class for its workers.
    pub async fn put_limits(&self, limits: &Limits) -> Result<()> {
        let value = serde_json::to_string(limits).map_err(|error| Error::Usage(error.to_string()))?;
        self.put_setting("limits", &value).await
    }

    /// The limits of the class, if its server has kept them.
    pub async fn limits(&self) -> Result<Option<Limits>> {
        let wrong = |error| Error::Usage(format!("the limits in the database: {error}"));
        self.setting("limits").await?.map(|value| serde_json::from_str(&value).map_err(wrong)).transpose()
    }

    /// Keeps the versions of the server's exercises, by which a worker knows whether its course is the
    /// same.
    pub async fn put_course(&self, versions: &str) -> Result<()> {
        self.put_setting("course", versions).await
    }

    /// The versions of the server's exercises, if it has kept them.
    pub async fn course(&self) -> Result<Option<String>> {
        self.setting("course").await
    }

    async fn put_setting(&self, name: &str, value: &str) -> Result<()> {
        let query = "INSERT INTO settings (name, value) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        sqlx::query(query).bind(name).bind(value).execute(&self.pool).await?;
        Ok(())
    }

    pub(super) async fn setting(&self, name: &str) -> Result<Option<String>> {
        let query = sqlx::query("SELECT value FROM settings WHERE name = $1").bind(name);
        query.fetch_optional(&self.pool).await?.map(|row| text(&row, 0)).transpose()
    }

    /// All students' runs, counted for each exercise.
    pub async fn cells(&self) -> Result<Vec<Cell>> {
        let query = "SELECT student, exercise, count(*), CAST(sum(submitted) AS BIGINT),
                CAST(sum(CASE WHEN status = 'solved' THEN 1 ELSE 0 END) AS BIGINT), max(queued)
            FROM runs WHERE student IN (SELECT id FROM students WHERE removed IS NULL)
            GROUP BY student, exercise ORDER BY student, exercise";
        each(sqlx::query(query).fetch_all(&self.pool).await?, |row| {
            Ok(Cell {
                student: text(row, 0)?,
                exercise: text(row, 1)?,
                runs: number(row, 2)?.unsigned_abs(),
                submissions: number(row, 3)?.unsigned_abs(),
                solved: number(row, 4)? > 0,
                last: number(row, 5)?,
            })
        })
    }

    /// All submissions, in the order in which they came.
    pub async fn submissions(&self) -> Result<Vec<Counted>> {
        let query = "SELECT r.id, r.student, r.exercise, r.queued, r.status
            FROM runs r JOIN students s ON s.id = r.student
            WHERE r.submitted = 1 AND s.removed IS NULL ORDER BY r.id";
        each(sqlx::query(query).fetch_all(&self.pool).await?, Counted::of)
    }

    /// The same of one student.
    pub async fn submissions_of(&self, student: &str) -> Result<Vec<Counted>> {
        let query = "SELECT id, student, exercise, queued, status FROM runs
            WHERE submitted = 1 AND student = $1 ORDER BY id";
        each(sqlx::query(query).bind(student).fetch_all(&self.pool).await?, Counted::of)
    }

    /// The reports of these runs with their processor time in milliseconds, by run.
    pub async fn reports(&self, runs: &[i64]) -> Result<HashMap<i64, (String, i64)>> {
        macro_rules! reports {
            ($runs:literal) => {
                concat!(
                    "SELECT r.id, v.report, v.milliseconds FROM runs r JOIN verdicts v ON v.id = r.verdict WHERE ",
                    $runs
                )
            };
        }
        // All in one parameter.
        let (query, [begin, end]) = match self.dialect {
            Dialect::Sqlite => (reports!("r.id IN (SELECT value FROM json_each($1))"), ["[", "]"]),
            Dialect::Postgres => (reports!("r.id = ANY(CAST($1 AS BIGINT[]))"), ["{", "}"]),
        };
        let runs: Vec<String> = runs.iter().map(ToString::to_string).collect();
        let query = sqlx::query(query).bind(format!("{begin}{}{end}", runs.join(",")));
        let rows = query.fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((number(row, 0)?, (text(row, 1)?, number(row, 2)?)))).collect()
    }

    /// The judged runs of an exercise, the newest first: at most `most`.
    pub async fn runs_of_exercise(&self, exercise: &str, most: u32) -> Result<Vec<RunOfExercise>> {
        let query = "SELECT r.id, r.student, r.queued, v.status, v.places, r.text
            FROM runs r JOIN verdicts v ON v.id = r.verdict JOIN students s ON s.id = r.student
            WHERE r.exercise = $1 AND s.removed IS NULL ORDER BY r.id DESC LIMIT $2";
        let rows = sqlx::query(query).bind(exercise).bind(i64::from(most)).fetch_all(&self.pool).await?;
        each(rows, |row| {
            Ok(RunOfExercise {
                run: number(row, 0)?,
                student: text(row, 1)?,
                queued: number(row, 2)?,
                status: text(row, 3)?,
                places: text(row, 4)?,
                digest: text(row, 5)?,
            })
        })
    }
}
