//! The queue. A worker takes a job with a lease, which it renews while it judges; a lease that has
//! ended is given to another worker.
//!
//! The order is fair: of the students who have a job waiting and none running, the one is served
//! whose last job began longest ago; and a student's jobs in the order in which they came. Jobs to
//! judge again come after all others. A student whose time in this hour is used up waits for the
//! next hour. A job that may begin has the seconds of a file, whatever is left of the hour:
//! else it would time out for good. So the hour is overdrawn by one file at most. A job costs its
//! processor time, and at least half of the time for which it had the worker: host code may sleep.
//!
//! Several workers take jobs at once. In PostgreSQL `FOR UPDATE SKIP LOCKED` locks the job and its
//! student, so that no two take jobs of one student; an index that allows one lease a student is
//! the second safeguard. Rows are locked in the order job, student.
//!
//! *Invariant:* a job leaves the table in the transaction that stores its verdict, and only by the
//! lease that it has then. A worker whose lease was given to another stores nothing.

use super::runs::{Position, Verdict};
use super::{Change, Dialect, Store, each, maybe_number, number, text};
use crate::error::Result;
use crate::settings::Limits;
use crate::worker::Versions;
use crate::{HOUR, Millis, secret};

/// How many pages of verdicts are kept for a student's exercise.
const PAGES: i64 = 5;

/// After how many lost judges a job is given up.
const MOST_LOST: i64 = 20;

/// The status of what could not be judged, as `learn grade` writes it: no verdict on the text.
pub const FAILED: &str = "failed";

/// The right to judge a job, until it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub job: i64,
    secret: String,
}

/// A job to judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The lease.
    pub lease: Lease,
    /// The run.
    pub run: i64,
    /// The student.
    pub student: String,
    /// The exercise.
    pub exercise: String,
    /// The text.
    pub text: String,
    /// When it was taken.
    pub started: Millis,
    /// Processor time that it may take, in seconds.
    pub seconds: u32,
    /// Memory that it may take, in MiB.
    pub memory_mib: u32,
    /// Whether it has a verdict, and is to be judged again.
    pub again: bool,
    /// How many of the student's earlier runs of the exercise were wrong.
    pub wrong_before: u64,
}

/// What came of ending or renewing a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It was done.
    Yes,
    /// The student has stopped the run.
    Cancelled,
    /// Another worker has the job, or had it.
    Lost,
}

/// The hour of the clock.
fn hour(now: Millis) -> i64 {
    now.div_euclid(HOUR)
}

/// The processor time of an hour, in milliseconds.
fn most(limits: &Limits) -> i64 {
    i64::from(limits.seconds_per_hour) * 1000
}

impl Store {
    /// Takes the next job for `lasts` milliseconds. `None` if there is none.
    pub async fn take(&self, worker: &str, limits: &Limits, now: Millis, lasts: Millis) -> Result<Option<Job>> {
        // Most often there is nothing that may begin, which needs no lock.
        let any = "SELECT (SELECT count(*) FROM jobs WHERE lease_ends < $1),
            (SELECT count(*) FROM jobs j JOIN students s ON s.id = j.student
                WHERE j.lease IS NULL AND s.running IS NULL
                    AND (s.spent_hour <> $2 OR s.spent < $3 OR j.again = 1))";
        let any = sqlx::query(any).bind(now).bind(hour(now)).bind(most(limits)).fetch_one(&self.pool).await?;
        if number(&any, 0)? > 0 {
            self.give_back_lost(now).await?;
        } else if number(&any, 1)? == 0 {
            return Ok(None);
        }
        macro_rules! next {
            ($lock:literal) => {
                concat!(
                    "SELECT j.id, j.run, j.student, j.again FROM jobs j JOIN students s ON s.id = j.student
                    WHERE j.lease IS NULL AND s.running IS NULL
                        AND (s.spent_hour <> $1 OR s.spent < $2 OR j.again = 1)
                    ORDER BY j.again, s.served, j.id LIMIT 1",
                    $lock
                )
            };
        }
        let next = match self.dialect {
            Dialect::Sqlite => next!(""),
            Dialect::Postgres => next!(" FOR UPDATE OF j, s SKIP LOCKED"),
        };
        let mut change = self.change().await?;
        let next = sqlx::query(next).bind(hour(now)).bind(most(limits)).fetch_optional(&mut *change).await?;
        let Some(next) = next else { return Ok(None) };
        let [job, run] = [number(&next, 0)?, number(&next, 1)?];
        let again = number(&next, 3)? != 0;
        let lease = Lease { job, secret: secret::new()? };
        let take = "UPDATE jobs SET lease = $2, lease_ends = $3, started = $4, worker = $5, step = NULL WHERE id = $1";
        let take = sqlx::query(take).bind(job).bind(&lease.secret).bind(now.saturating_add(lasts));
        take.bind(now).bind(worker).execute(&mut *change).await?;
        let student = text(&next, 2)?;
        let serve = sqlx::query("UPDATE students SET running = $2, served = $3 WHERE id = $1");
        serve.bind(&student).bind(job).bind(now).execute(&mut *change).await?;
        let query = "SELECT r.exercise, t.text, (SELECT count(*) FROM runs o WHERE o.student = r.student
                AND o.exercise = r.exercise AND o.status = 'wrong' AND o.id < r.id)
            FROM runs r JOIN texts t ON t.digest = r.text WHERE r.id = $1";
        let row = sqlx::query(query).bind(run).fetch_one(&mut *change).await?;
        let (exercise, text, wrong_before) = (text(&row, 0)?, text(&row, 1)?, number(&row, 2)?.unsigned_abs());
        change.commit().await?;
        let (seconds, memory_mib) = (limits.seconds_per_file, limits.memory_mib);
        Ok(Some(Job { lease, run, student, exercise, text, started: now, seconds, memory_mib, again, wrong_before }))
    }

    /// The verdict that a job's text has had as a run of the same student and exercise, by the same
    /// versions, if every run gives it: the results are right, or the text does not run. A job judged
    /// again has no known verdict.
    pub async fn known_verdict(&self, job: &Job, versions: &Versions) -> Result<Option<Verdict>> {
        if job.again {
            return Ok(None);
        }
        let query = "SELECT v.status, v.milliseconds, v.report, v.places, v.page, v.course, v.grader
            FROM runs r JOIN verdicts v ON v.id = r.verdict
            WHERE r.student = $1 AND r.exercise = $2 AND r.text = $3 AND v.course = $4 AND v.grader = $5
                AND v.page IS NOT NULL AND v.status IN ('solved', 'goals_missed', 'does_not_compile', 'refused')
            ORDER BY r.id DESC LIMIT 1";
        let query = sqlx::query(query).bind(&job.student).bind(&job.exercise).bind(secret::hash(&job.text));
        let row = query.bind(&versions.course).bind(&versions.grader).fetch_optional(&self.pool).await?;
        let verdict = row.as_ref().map(Verdict::of).transpose()?;
        Ok(verdict.map(|verdict| Verdict { milliseconds: 0, ..verdict }))
    }

    /// Renews a lease, and says what the judge does.
    pub async fn renew(&self, lease: &Lease, step: Option<&str>, now: Millis, lasts: Millis) -> Result<Done> {
        let query = "UPDATE jobs SET lease_ends = $3, step = $4 WHERE id = $1 AND lease = $2 RETURNING cancelled";
        let query = sqlx::query(query).bind(lease.job).bind(&lease.secret).bind(now.saturating_add(lasts)).bind(step);
        Ok(match query.fetch_optional(&self.pool).await? {
            None => Done::Lost,
            Some(row) if number(&row, 0)? != 0 => Done::Cancelled,
            Some(_) => Done::Yes,
        })
    }

    /// Stores the verdict of a job, which leaves the queue.
    pub async fn finish(&self, lease: &Lease, verdict: &Verdict, now: Millis) -> Result<Done> {
        let mut change = self.change().await?;
        let query = "DELETE FROM jobs WHERE id = $1 AND lease = $2 RETURNING run, student, again, cancelled, started";
        let query = sqlx::query(query).bind(lease.job).bind(&lease.secret);
        let Some(row) = query.fetch_optional(&mut *change).await? else { return Ok(Done::Lost) };
        let ended = Ended {
            run: number(&row, 0)?,
            student: text(&row, 1)?,
            again: number(&row, 2)? != 0,
            started: maybe_number(&row, 4)?.unwrap_or(now),
        };
        let cancelled = number(&row, 3)? != 0;
        ended.free_student(&mut change, verdict.milliseconds.max((now - ended.started) / 2), now).await?;
        if !cancelled {
            ended.store(&mut change, verdict, now).await?;
        }
        change.commit().await?;
        Ok(if cancelled { Done::Cancelled } else { Done::Yes })
    }

    /// Gives a job back that was not judged, through no fault of it: it is the next of its student.
    pub async fn give_back(&self, lease: &Lease) -> Result<Done> {
        let mut change = self.change().await?;
        let query = "UPDATE jobs SET lease = NULL, lease_ends = NULL, step = NULL WHERE id = $1 AND lease = $2
            RETURNING student";
        let query = sqlx::query(query).bind(lease.job).bind(&lease.secret);
        let Some(row) = query.fetch_optional(&mut *change).await? else { return Ok(Done::Lost) };
        let free = sqlx::query("UPDATE students SET running = NULL, served = 0 WHERE id = $1");
        free.bind(text(&row, 0)?).execute(&mut *change).await?;
        change.commit().await?;
        Ok(Done::Yes)
    }

    /// Puts the jobs back whose leases have ended. One that was lost too often is given up.
    async fn give_back_lost(&self, now: Millis) -> Result<()> {
        macro_rules! lost {
            ($lock:literal) => {
                concat!(
                    "SELECT id, run, student, lost, cancelled, again, started FROM jobs WHERE lease_ends < $1 ORDER BY id",
                    $lock
                )
            };
        }
        let query = match self.dialect {
            Dialect::Sqlite => lost!(""),
            Dialect::Postgres => lost!(" FOR UPDATE SKIP LOCKED"),
        };
        let mut change = self.change().await?;
        for row in sqlx::query(query).bind(now).fetch_all(&mut *change).await? {
            let (job, lost, cancelled) = (number(&row, 0)?, number(&row, 3)? + 1, number(&row, 4)? != 0);
            let ended = Ended {
                run: number(&row, 1)?,
                student: text(&row, 2)?,
                again: number(&row, 5)? != 0,
                started: maybe_number(&row, 6)?.unwrap_or(now),
            };
            if lost < MOST_LOST && !cancelled {
                let query = "UPDATE jobs SET lease = NULL, lease_ends = NULL, step = NULL, lost = $2 WHERE id = $1";
                sqlx::query(query).bind(job).bind(lost).execute(&mut *change).await?;
                // It has waited already.
                let free = sqlx::query("UPDATE students SET running = NULL, served = 0 WHERE id = $1");
                free.bind(&ended.student).execute(&mut *change).await?;
                continue;
            }
            sqlx::query("DELETE FROM jobs WHERE id = $1").bind(job).execute(&mut *change).await?;
            ended.free_student(&mut change, 0, now).await?;
            if !cancelled {
                ended.store(&mut change, &given_up(), now).await?;
            }
        }
        change.commit().await?;
        Ok(())
    }

    /// A run's place in the queue; `None` if it does not wait.
    pub async fn position(&self, run: i64, limits: &Limits, now: Millis) -> Result<Option<Position>> {
        let own = "SELECT j.id, j.student, j.again, s.served, s.spent_hour, s.spent,
                (SELECT count(*) FROM jobs WHERE lease IS NOT NULL),
                (SELECT count(*) FROM jobs o WHERE o.student = j.student AND o.lease IS NULL AND o.again = 0 AND o.id < j.id),
                (SELECT count(*) FROM jobs WHERE lease IS NULL AND (again = 0 OR id < j.id)),
                (SELECT min(id) FROM jobs o WHERE o.student = j.student AND o.lease IS NULL AND o.again = 0)
            FROM jobs j JOIN students s ON s.id = j.student WHERE j.run = $1 AND j.lease IS NULL";
        let Some(own) = sqlx::query(own).bind(run).fetch_optional(&self.pool).await? else { return Ok(None) };
        let out_of_time = number(&own, 4)? == hour(now) && number(&own, 5)? >= most(limits);
        let running = number(&own, 6)?.unsigned_abs();
        if number(&own, 2)? != 0 {
            return Ok(Some(Position { ahead: number(&own, 8)?.unsigned_abs(), running, out_of_time: false }));
        }
        let (first, served, round) = (number(&own, 9)?, number(&own, 3)?, number(&own, 7)?);
        // In each round every student who waits is served once, in the order of `served`.
        let others = "SELECT s.served, min(j.id), count(*) FROM jobs j JOIN students s ON s.id = j.student
            WHERE j.lease IS NULL AND j.again = 0 AND j.student <> $1 AND (s.spent_hour <> $2 OR s.spent < $3)
            GROUP BY s.id, s.served";
        let others = sqlx::query(others).bind(text(&own, 1)?).bind(hour(now)).bind(most(limits));
        let others = each(others.fetch_all(&self.pool).await?, |row| {
            let is_before = (number(row, 0)?, number(row, 1)?) < (served, first);
            Ok((round + i64::from(is_before)).min(number(row, 2)?))
        })?;
        let ahead = (round + others.iter().sum::<i64>()).unsigned_abs();
        Ok(Some(Position { ahead, running, out_of_time }))
    }

    /// Puts all runs of an exercise back into the queue that have a verdict, to be judged again:
    /// those of the submissions, or all. Returns how many.
    pub async fn regrade(&self, exercise: &str, submissions_only: bool) -> Result<u64> {
        let query = "INSERT INTO jobs (run, student, again, lost, cancelled)
            SELECT r.id, r.student, 1, 0, 0 FROM runs r JOIN students s ON s.id = r.student
            WHERE s.removed IS NULL AND r.exercise = $1 AND r.verdict IS NOT NULL AND (r.submitted = 1 OR $2 = 0)
                AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.run = r.id)
            ORDER BY r.id ON CONFLICT (run) DO NOTHING";
        let query = sqlx::query(query).bind(exercise).bind(i64::from(submissions_only));
        Ok(query.execute(&self.pool).await?.rows_affected())
    }

    /// How many jobs of the roster's students wait, and how many are being judged.
    pub async fn queue_length(&self) -> Result<(u64, u64)> {
        let query = "SELECT count(*) - count(j.lease), count(j.lease)
            FROM jobs j JOIN students s ON s.id = j.student WHERE s.removed IS NULL";
        let row = sqlx::query(query).fetch_one(&self.pool).await?;
        Ok((number(&row, 0)?.unsigned_abs(), number(&row, 1)?.unsigned_abs()))
    }

    /// Keeps others from changing a student's row. Returns whether it is there.
    pub(super) async fn lock_student(&self, change: &mut Change, id: &str) -> Result<bool> {
        let query = match self.dialect {
            Dialect::Sqlite => "SELECT 1 FROM students WHERE id = $1 AND removed IS NULL",
            Dialect::Postgres => "SELECT 1 FROM students WHERE id = $1 AND removed IS NULL FOR UPDATE",
        };
        Ok(sqlx::query(query).bind(id).fetch_optional(&mut **change).await?.is_some())
    }
}

/// The verdict of a job that was given up.
fn given_up() -> Verdict {
    Verdict {
        status: FAILED.to_owned(),
        milliseconds: 0,
        report: format!("the judge was lost {MOST_LOST} times"),
        places: "[]".to_owned(),
        page: None,
        course: String::new(),
        grader: String::new(),
    }
}

/// A job that has left the queue.
struct Ended {
    run: i64,
    student: String,
    again: bool,
    started: Millis,
}

impl Ended {
    /// Lets the student's next job begin, and counts the time of this one.
    async fn free_student(&self, change: &mut Change, milliseconds: i64, now: Millis) -> Result<()> {
        let milliseconds = if self.again { 0 } else { milliseconds.max(0) };
        let query = "UPDATE students SET running = NULL,
                spent = CASE WHEN spent_hour = $2 THEN spent + $3 ELSE $3 END, spent_hour = $2 WHERE id = $1";
        let query = sqlx::query(query).bind(&self.student).bind(hour(now)).bind(milliseconds);
        query.execute(&mut **change).await?;
        Ok(())
    }

    /// Stores the verdict, and forgets pages that are old. One to judge again that could not be judged
    /// keeps the verdict that it has.
    async fn store(&self, change: &mut Change, verdict: &Verdict, now: Millis) -> Result<()> {
        let Verdict { status, milliseconds, report, places, page, course, grader } = verdict;
        let query = "INSERT INTO verdicts
                (run, started, ended, milliseconds, status, report, places, page, course, grader)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id";
        let query = sqlx::query(query).bind(self.run).bind(self.started).bind(now).bind(milliseconds).bind(status);
        let query = query.bind(report).bind(places).bind(page.as_deref()).bind(course).bind(grader);
        let id = number(&query.fetch_one(&mut **change).await?, 0)?;
        if self.again && status == FAILED {
            return Ok(());
        }
        let query = sqlx::query("UPDATE runs SET verdict = $2, status = $3 WHERE id = $1");
        query.bind(self.run).bind(id).bind(status).execute(&mut **change).await?;
        let old = "UPDATE verdicts SET page = NULL WHERE page IS NOT NULL AND run IN
            (SELECT o.id FROM runs r JOIN runs o ON o.student = r.student AND o.exercise = r.exercise AND o.id < r.id
            WHERE r.id = $1 ORDER BY o.id DESC LIMIT $2 OFFSET $3)";
        sqlx::query(old).bind(self.run).bind(PAGES).bind(PAGES - 1).execute(&mut **change).await?;
        Ok(())
    }
}
