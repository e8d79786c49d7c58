//! Runs and their verdicts. A run is a text that a student had judged; some are submissions, which
//! count for marks.

use sqlx::any::AnyRow;

use super::{Change, Store, Tries, each, maybe_number, maybe_text, number, text};
use crate::error::{Error, Result};
use crate::settings::Limits;
use crate::{DAY, Millis, secret};

/// A run to judge.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// The student.
    pub student: &'a str,
    /// The exercise.
    pub exercise: &'a str,
    /// The text.
    pub text: &'a str,
    /// Whether it counts for marks.
    pub submitted: bool,
}

/// A run, without its text and report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The key.
    pub id: i64,
    /// The student.
    pub student: String,
    /// The exercise.
    pub exercise: String,
    /// Whether it counts for marks.
    pub submitted: bool,
    /// When it was accepted.
    pub queued: Millis,
    /// What happens to it.
    pub state: State,
    /// What the judge does, if it says so.
    pub step: Option<String>,
    /// The last verdict, if there is one.
    pub last: Option<Last>,
}

/// What happens to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits in the queue; if there is a verdict, to be judged again.
    Waiting,
    /// It is being judged.
    Running,
    /// It has its verdict.
    Done,
    /// The student has stopped it.
    Cancelled,
}

/// What is short of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Last {
    /// The status, as `learn grade` writes it: `solved`, `goals_missed`, `wrong`, ...
    pub status: String,
    /// When the judge began.
    pub started: Millis,
    /// When it ended.
    pub ended: Millis,
    /// Processor time.
    pub milliseconds: i64,
    /// The version of the course.
    pub course: String,
    /// The version of the grader.
    pub grader: String,
}

/// A verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The status, as `learn grade` writes it.
    pub status: String,
    /// Processor time.
    pub milliseconds: i64,
    /// The report as plain text.
    pub report: String,
    /// The places in the text, as JSON: a list of `{line, column, message}`.
    pub places: String,
    /// The part of a page, as the line of JSON that `learn run --events` ends with. Only the newest
    /// ones of a student's exercise are kept.
    pub page: Option<String>,
    /// The version of the course.
    pub course: String,
    /// The version of the grader.
    pub grader: String,
}

/// A place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// How many jobs are likely to begin before.
    pub ahead: u64,
    /// How many jobs are being judged.
    pub running: u64,
    /// Whether the student has no processor time left in this hour.
    pub out_of_time: bool,
}

/// What [`Run::of`] reads, of runs `r`.
macro_rules! select_runs {
    ($rest:literal) => {
        concat!(
            "SELECT r.id, r.student, r.exercise, r.submitted, r.queued, r.cancelled, j.id, j.lease, j.step,
                v.status, v.started, v.ended, v.milliseconds, v.course, v.grader
            FROM runs r LEFT JOIN jobs j ON j.run = r.id LEFT JOIN verdicts v ON v.id = r.verdict ",
            $rest
        )
    };
}

impl Run {
    fn of(row: &AnyRow) -> Result<Self> {
        let [cancelled, job] = [maybe_number(row, 5)?, maybe_number(row, 6)?];
        let state = match (job, maybe_text(row, 7)?, cancelled) {
            (Some(_), Some(_), _) => State::Running,
            (Some(_), None, _) => State::Waiting,
            (None, _, Some(_)) => State::Cancelled,
            (None, _, None) => State::Done,
        };
        let last = |status| -> Result<Last> {
            let [started, ended, milliseconds] = [number(row, 10)?, number(row, 11)?, number(row, 12)?];
            Ok(Last { status, started, ended, milliseconds, course: text(row, 13)?, grader: text(row, 14)? })
        };
        Ok(Self {
            id: number(row, 0)?,
            student: text(row, 1)?,
            exercise: text(row, 2)?,
            submitted: number(row, 3)? != 0,
            queued: number(row, 4)?,
            state,
            step: maybe_text(row, 8)?,
            last: maybe_text(row, 9)?.map(last).transpose()?,
        })
    }
}

impl Store {
    /// Accepts a run: keeps its text, and puts it into the queue. Returns its key.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the text is too long, or there are too many runs.
    pub async fn enqueue(&self, new: &NewRun<'_>, limits: &Limits, now: Millis) -> Result<i64> {
        let refused = |why: String| Err(Error::Refused(why));
        if new.text.len() > limits.source_bytes {
            let (bytes, most) = (new.text.len(), limits.source_bytes);
            return refused(format!("the text has {bytes} bytes, and {most} are allowed"));
        }
        if new.text.contains('\0') {
            return refused("the text contains a zero byte".to_owned());
        }
        // The same text of another student may be erased meanwhile.
        let mut tries = Tries::default();
        loop {
            let done = self.enqueue_once(new, limits, now).await;
            if !tries.again(&done).await {
                return done;
            }
        }
    }

    async fn enqueue_once(&self, new: &NewRun<'_>, limits: &Limits, now: Millis) -> Result<i64> {
        let mut change = self.change().await?;
        if let Some(why) = self.refusal(&mut change, new, limits, now).await? {
            // Else the student would be locked for a moment longer, and a worker would pass them over.
            change.rollback().await?;
            return Err(Error::Refused(why));
        }
        let digest = secret::hash(new.text);
        let keep = "INSERT INTO texts (digest, text) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING";
        sqlx::query(keep).bind(&digest).bind(new.text).execute(&mut *change).await?;
        let add = "INSERT INTO runs (student, exercise, submitted, text, queued) VALUES ($1, $2, $3, $4, $5)
            RETURNING id";
        let add = sqlx::query(add).bind(new.student).bind(new.exercise).bind(i64::from(new.submitted));
        let run = number(&add.bind(&digest).bind(now).fetch_one(&mut *change).await?, 0)?;
        add_job(&mut change, run, new.student, false).await?;
        change.commit().await?;
        Ok(run)
    }

    /// Locks the student. Returns why they may not run anything now, if they may not.
    async fn refusal(
        &self,
        change: &mut Change,
        new: &NewRun<'_>,
        limits: &Limits,
        now: Millis,
    ) -> Result<Option<String>> {
        if !self.lock_student(change, new.student).await? {
            return Ok(Some("there is no such student any more".to_owned()));
        }
        let count = "SELECT (SELECT count(*) FROM jobs WHERE student = $1 AND lease IS NULL AND again = 0),
                (SELECT count(*) FROM jobs WHERE lease IS NULL AND again = 0),
                (SELECT count(*) FROM runs WHERE student = $1 AND queued > $2)";
        let counts = sqlx::query(count).bind(new.student).bind(now - DAY).fetch_one(&mut **change).await?;
        let why = if number(&counts, 0)? >= i64::from(limits.waiting_per_student) {
            let waiting = wording::several(limits.waiting_per_student as usize, "run");
            format!("you have {waiting} waiting: stop one, or wait for it")
        } else if number(&counts, 1)? >= i64::from(limits.waiting) {
            "too many runs are waiting: try again in a minute".to_owned()
        } else if number(&counts, 2)? >= i64::from(limits.runs_per_day) {
            format!("you have had {} runs within a day, and no more are allowed", limits.runs_per_day)
        } else {
            return Ok(None);
        };
        Ok(Some(why))
    }

    /// A run.
    pub async fn run(&self, id: i64) -> Result<Option<Run>> {
        let query = select_runs!("JOIN students s ON s.id = r.student WHERE r.id = $1 AND s.removed IS NULL");
        let query = sqlx::query(query).bind(id);
        query.fetch_optional(&self.pool).await?.as_ref().map(Run::of).transpose()
    }

    /// The text of a run.
    pub async fn text_of(&self, run: i64) -> Result<Option<String>> {
        let query = sqlx::query("SELECT t.text FROM runs r JOIN texts t ON t.digest = r.text WHERE r.id = $1");
        query.bind(run).fetch_optional(&self.pool).await?.map(|row| text(&row, 0)).transpose()
    }

    /// The last verdict of a run.
    pub async fn verdict(&self, run: i64) -> Result<Option<Verdict>> {
        let query = "SELECT v.status, v.milliseconds, v.report, v.places, v.page, v.course, v.grader
            FROM runs r JOIN verdicts v ON v.id = r.verdict WHERE r.id = $1";
        let row = sqlx::query(query).bind(run).fetch_optional(&self.pool).await?;
        row.as_ref().map(Verdict::of).transpose()
    }

    /// All verdicts of a run, the oldest first.
    pub async fn verdicts(&self, run: i64) -> Result<Vec<Verdict>> {
        let query = "SELECT status, milliseconds, report, places, page, course, grader
            FROM verdicts WHERE run = $1 ORDER BY id";
        each(sqlx::query(query).bind(run).fetch_all(&self.pool).await?, Verdict::of)
    }

    /// A student's runs of an exercise, the newest first: at most `most`, older than `before`.
    pub async fn runs_of(&self, student: &str, exercise: &str, before: Option<i64>, most: u32) -> Result<Vec<Run>> {
        let query = select_runs!("WHERE r.student = $1 AND r.exercise = $2 AND r.id < $3 ORDER BY r.id DESC LIMIT $4");
        let query = sqlx::query(query).bind(student).bind(exercise).bind(before.unwrap_or(i64::MAX));
        each(query.bind(i64::from(most)).fetch_all(&self.pool).await?, Run::of)
    }

    /// A student's last run of each exercise.
    pub async fn last_runs(&self, student: &str) -> Result<Vec<Run>> {
        let query = select_runs!(
            "WHERE r.id IN (SELECT max(id) FROM runs WHERE student = $1 GROUP BY exercise) ORDER BY r.exercise"
        );
        each(sqlx::query(query).bind(student).fetch_all(&self.pool).await?, Run::of)
    }

    /// The exercises that a student has solved.
    pub async fn solved(&self, student: &str) -> Result<Vec<String>> {
        let query = "SELECT DISTINCT exercise FROM runs WHERE student = $1 AND status = 'solved' ORDER BY exercise";
        each(sqlx::query(query).bind(student).fetch_all(&self.pool).await?, |row| text(row, 0))
    }

    /// Stops a student's run, which waits or is being judged. Returns whether there was one; what
    /// is submitted cannot be stopped.
    pub async fn cancel(&self, student: &str, run: i64, now: Millis) -> Result<bool> {
        let mut change = self.change().await?;
        let marked = "UPDATE jobs SET cancelled = 1 WHERE run = $1 AND student = $2 AND again = 0
            AND EXISTS (SELECT 1 FROM runs WHERE id = $1 AND submitted = 0)";
        if sqlx::query(marked).bind(run).bind(student).execute(&mut *change).await?.rows_affected() == 0 {
            return Ok(false);
        }
        // The worker of one that is being judged learns it when it renews its lease.
        let waits = "DELETE FROM jobs WHERE run = $1 AND lease IS NULL";
        sqlx::query(waits).bind(run).execute(&mut *change).await?;
        let cancelled = sqlx::query("UPDATE runs SET cancelled = $2 WHERE id = $1").bind(run).bind(now);
        cancelled.execute(&mut *change).await?;
        change.commit().await?;
        Ok(true)
    }
}

impl Verdict {
    pub(super) fn of(row: &AnyRow) -> Result<Self> {
        Ok(Self {
            status: text(row, 0)?,
            milliseconds: number(row, 1)?,
            report: text(row, 2)?,
            places: text(row, 3)?,
            page: maybe_text(row, 4)?,
            course: text(row, 5)?,
            grader: text(row, 6)?,
        })
    }
}

/// Puts a run into the queue; `again` if it has a verdict.
pub(super) async fn add_job(change: &mut Change, run: i64, student: &str, again: bool) -> Result<()> {
    let query = "INSERT INTO jobs (run, student, again, lost, cancelled) VALUES ($1, $2, $3, 0, 0)";
    sqlx::query(query).bind(run).bind(student).bind(i64::from(again)).execute(&mut **change).await?;
    Ok(())
}
