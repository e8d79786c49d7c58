//! A worker: takes jobs from the queue, has them judged, and stores the verdicts.
//!
//! *Invariant:* a worker keeps nothing. Killed at any moment, it leaves a lease that ends, and
//! another worker takes the job.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::Millis;
use crate::error::{Error, Result};
use crate::settings::Limits;
use crate::store::{Done, Job, Store, Verdict};

/// How long a lease lasts that is not renewed.
pub const LEASE: Millis = 15_000;

/// How often a lease is renewed, which is also how soon a stopped run ends.
const RENEWAL: Duration = Duration::from_millis(700);

/// How often an idle worker looks for a job.
const IDLE: Duration = Duration::from_millis(150);

/// How long to wait after an error of the database.
const AFTER_ERROR: Duration = Duration::from_secs(1);

/// How often storing a verdict is tried, if the database has errors.
const TRIES: u32 = 12;

/// What judges a job, on a thread that may wait.
pub trait Judge: Send + 'static {
    /// Refuses a course that is not the server's, whose versions these are: what to say of it.
    ///
    /// # Errors
    ///
    /// Which exercises differ.
    fn accepts(&mut self, course: &str) -> std::result::Result<(), String>;

    /// The versions of the course and of the grader by which a job is judged now, if they are known.
    fn versions(&self, job: &Job) -> Option<Versions>;

    /// Judges a job, says meanwhile what it does, and ends soon when `stop` is set. `None`: it was
    /// stopped.
    fn judge(&mut self, job: &Job, stop: &AtomicBool, tell: &(dyn Fn(&str) + Sync)) -> Option<Verdict>;
}

/// What a verdict depends on, besides the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The version of the course.
    pub course: String,
    /// The version of the grader.
    pub grader: String,
}

/// A worker.
#[derive(Debug)]
pub struct Worker<'a> {
    /// The database.
    pub store: &'a Store,
    /// Its name, for the database alone.
    pub name: String,
    /// The limits of the class.
    pub limits: Limits,
    /// How long a lease lasts that is not renewed: [`LEASE`].
    pub lease: Millis,
    /// Set when it is to end: the job that it has goes back into the queue.
    pub ending: &'static AtomicBool,
}

impl Worker<'_> {
    /// Takes jobs and judges them until the worker is told to end. `problem` is called with each
    /// error of the database, such as a lost connection.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if the judge does not accept the server's course, or panics, which loses the job's
    /// lease.
    pub async fn work<J: Judge>(&self, mut judge: J, mut problem: impl FnMut(&Error)) -> Result<()> {
        while !self.is_ending() {
            match self.next().await {
                // After the job is taken: one to judge again is queued after its course is kept.
                Ok(Some(job)) => match self.store.course().await {
                    Ok(course) => {
                        if let Some(Err(why)) = course.map(|course| judge.accepts(&course)) {
                            self.store.give_back(&job.lease).await?;
                            return Err(Error::Usage(why));
                        }
                        judge = self.one(judge, job, &mut problem).await?;
                    }
                    Err(error) => {
                        problem(&error);
                        if let Err(error) = self.store.give_back(&job.lease).await {
                            // The lease ends, and another worker takes the job.
                            problem(&error);
                        }
                        tokio::time::sleep(AFTER_ERROR).await;
                    }
                },
                Ok(None) => tokio::time::sleep(IDLE).await,
                Err(error) => {
                    problem(&error);
                    tokio::time::sleep(AFTER_ERROR).await;
                }
            }
        }
        Ok(())
    }

    async fn next(&self) -> Result<Option<Job>> {
        let now = self.store.now().await?;
        self.store.take(&self.name, &self.limits, now, self.lease).await
    }

    /// Has one job judged, and stores its verdict.
    async fn one<J: Judge>(&self, mut judge: J, job: Job, problem: &mut impl FnMut(&Error)) -> Result<J> {
        let (lease, started) = (job.lease.clone(), job.started);
        if let Some(versions) = judge.versions(&job)
            && self.answer_again(&job, &versions).await.unwrap_or_else(|error| {
                problem(&error);
                false
            })
        {
            return Ok(judge);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let step = Arc::new(Mutex::new(None));
        let judging = {
            let (stop, step) = (Arc::clone(&stop), Arc::clone(&step));
            let tell = move |what: &str| *step.lock().unwrap_or_else(PoisonError::into_inner) = Some(what.to_owned());
            tokio::task::spawn_blocking(move || {
                let verdict = judge.judge(&job, &stop, &tell);
                (judge, verdict)
            })
        };
        let mut judging = judging;
        let mut last = Done::Yes;
        let judged = loop {
            match tokio::time::timeout(RENEWAL, &mut judging).await {
                Ok(judged) => break judged,
                Err(_) if self.is_ending() => stop.store(true, Ordering::Relaxed),
                Err(_) => {}
            }
            let said = step.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let renewed = match self.store.now().await {
                Ok(now) => self.store.renew(&lease, said.as_deref(), now, self.lease).await,
                Err(error) => Err(error),
            };
            match renewed {
                Ok(Done::Yes) => {}
                Ok(done) => {
                    last = done;
                    stop.store(true, Ordering::Relaxed);
                }
                // The lease may last until the database answers again.
                Err(error) => problem(&error),
            }
        };
        let (judge, verdict) = judged.map_err(|error| Error::Usage(format!("the judge is lost: {error}")))?;
        for _ in 0..TRIES {
            let now = self.store.now().await;
            let stored = match (&verdict, now) {
                (_, Err(error)) => Err(error),
                (Some(verdict), Ok(now)) => self.store.finish(&lease, verdict, now).await,
                (None, Ok(now)) if last == Done::Cancelled => {
                    self.store.finish(&lease, &stopped(now - started), now).await
                }
                (None, Ok(_)) => self.store.give_back(&lease).await,
            };
            match stored {
                Ok(_) => break,
                Err(error) => problem(&error),
            }
            tokio::time::sleep(AFTER_ERROR).await;
        }
        Ok(judge)
    }

    /// Gives a job the verdict that the same text of the student has had, if there is one: most often
    /// a text is run, and then submitted.
    async fn answer_again(&self, job: &Job, versions: &Versions) -> Result<bool> {
        let Some(verdict) = self.store.known_verdict(job, versions).await? else { return Ok(false) };
        let now = self.store.now().await?;
        self.store.finish(&job.lease, &verdict, now).await?;
        Ok(true)
    }

    fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }
}

/// For a run that was stopped, which stores no verdict, but costs its time.
fn stopped(milliseconds: i64) -> Verdict {
    Verdict {
        status: String::new(),
        milliseconds,
        report: String::new(),
        places: "[]".to_owned(),
        page: None,
        course: String::new(),
        grader: String::new(),
    }
}
