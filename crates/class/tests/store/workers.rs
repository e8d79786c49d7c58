//! Several workers at once, in one process: each run gets its verdict once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use class::settings::Limits;
use class::store::{Job, NewRun, State, Store, Verdict};
use class::worker::{Judge, LEASE, Versions, Worker};
use sqlx::Connection as _;

use crate::databases::{self, add, enqueue, on_each, verdict};

/// Which students have a job running, and how often each run was judged.
#[derive(Default)]
struct Seen {
    running: Vec<String>,
    judged: BTreeMap<i64, u32>,
}

/// A judge that notes what it sees, and can be stopped.
struct Noting {
    seen: Arc<Mutex<Seen>>,
}

impl Judge for Noting {
    fn accepts(&mut self, course: &str) -> Result<(), String> {
        (course != "other").then_some(()).ok_or_else(|| "guard differs".to_owned())
    }

    fn versions(&self, _: &Job) -> Option<Versions> {
        Some(Versions { course: "c1".to_owned(), grader: "g1".to_owned() })
    }

    fn judge(&mut self, job: &Job, stop: &AtomicBool, tell: &(dyn Fn(&str) + Sync)) -> Option<Verdict> {
        {
            let mut seen = self.seen.lock().unwrap();
            assert!(!seen.running.contains(&job.student), "{} has two", job.student);
            seen.running.push(job.student.clone());
            *seen.judged.entry(job.run).or_default() += 1;
        }
        tell("running");
        while job.text == "endless" && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::yield_now();
        self.seen.lock().unwrap().running.retain(|student| *student != job.student);
        (job.text != "endless").then(|| verdict("solved", 1))
    }
}

/// Starts workers that end when the flag is set. Each has connections of its own.
async fn start(
    address: &str,
    count: usize,
    seen: &Arc<Mutex<Seen>>,
    ending: &'static AtomicBool,
) -> Vec<tokio::task::JoinHandle<()>> {
    let mut workers = Vec::new();
    for number in 0..count {
        let store = Store::open(address).await.unwrap();
        let judge = Noting { seen: Arc::clone(seen) };
        workers.push(tokio::spawn(async move {
            let limits = Limits::default();
            let worker = Worker { store: &store, name: format!("w{number}"), limits, lease: LEASE, ending };
            worker.work(judge, |error| panic!("{error}")).await.unwrap();
        }));
    }
    workers
}

#[test]
fn each_run_is_judged_once() {
    on_each(async |store, address| {
        static ENDING: AtomicBool = AtomicBool::new(false);
        ENDING.store(false, Ordering::Relaxed);
        let names: Vec<String> = (0..10).map(|number| format!("s{number}")).collect();
        add(&store, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let seen = Arc::default();
        let workers = start(&address, 5, &seen, &ENDING).await;
        let mut runs = Vec::new();
        for text in ["1", "2", "3"] {
            for name in &names {
                runs.push(enqueue(&store, name, text, 1).await);
            }
        }
        while store.queue_length().await.unwrap() != (0, 0) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        ENDING.store(true, Ordering::Relaxed);
        for worker in workers {
            worker.await.unwrap();
        }
        for run in &runs {
            assert_eq!(store.verdicts(*run).await.unwrap().len(), 1, "run {run}");
        }
        let seen = seen.lock().unwrap();
        assert_eq!((seen.judged.len(), seen.judged.values().max()), (runs.len(), Some(&1)));
    });
}

#[test]
fn a_text_that_is_run_and_then_submitted_is_judged_once() {
    on_each(async |store, address| {
        static ENDING: AtomicBool = AtomicBool::new(false);
        ENDING.store(false, Ordering::Relaxed);
        add(&store, &["a"]).await;
        let seen = Arc::default();
        let workers = start(&address, 1, &seen, &ENDING).await;
        let run = enqueue(&store, "a", "1", 1).await;
        let submitted = NewRun { submitted: true, ..databases::run("a", "1") };
        let submitted = store.enqueue(&submitted, &Limits::default(), 1).await.unwrap();
        while store.queue_length().await.unwrap() != (0, 0) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        ENDING.store(true, Ordering::Relaxed);
        for worker in workers {
            worker.await.unwrap();
        }
        assert_eq!(store.verdict(run).await.unwrap(), Some(verdict("solved", 1)));
        assert_eq!(store.verdict(submitted).await.unwrap(), Some(verdict("solved", 0)), "it took no time");
        assert_eq!(seen.lock().unwrap().judged.keys().collect::<Vec<_>>(), [&run]);
    });
}

#[test]
fn a_worker_with_another_course_gives_the_job_back_and_ends() {
    on_each(async |store, _| {
        static ENDING: AtomicBool = AtomicBool::new(false);
        ENDING.store(false, Ordering::Relaxed);
        add(&store, &["a"]).await;
        let run = enqueue(&store, "a", "1", 1).await;
        let seen = Arc::<Mutex<Seen>>::default();
        let worker = || {
            let worker = Worker {
                store: &store,
                name: "w".to_owned(),
                limits: Limits::default(),
                lease: LEASE,
                ending: &ENDING,
            };
            let judge = Noting { seen: Arc::clone(&seen) };
            async move { worker.work(judge, |error| panic!("{error}")).await }
        };
        assert_eq!(store.course().await.unwrap(), None);
        store.put_course("other").await.unwrap();
        assert_eq!(worker().await.unwrap_err().to_string(), "guard differs");
        assert_eq!(store.run(run).await.unwrap().unwrap().state, State::Waiting);
        assert!(seen.lock().unwrap().judged.is_empty());
        store.put_course("same").await.unwrap();
        let watched = store.clone();
        let watcher = tokio::spawn(async move {
            while watched.queue_length().await.unwrap() != (0, 0) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            ENDING.store(true, Ordering::Relaxed);
        });
        worker().await.unwrap();
        watcher.await.unwrap();
        assert_eq!(store.verdict(run).await.unwrap(), Some(verdict("solved", 1)));
    });
}

#[test]
fn a_worker_that_cannot_read_the_course_gives_the_job_back() {
    on_each(async |store, address| {
        static ENDING: AtomicBool = AtomicBool::new(false);
        ENDING.store(false, Ordering::Relaxed);
        add(&store, &["a"]).await;
        let run = enqueue(&store, "a", "1", 1).await;
        let mut connection = sqlx::AnyConnection::connect(&address).await.unwrap();
        sqlx::query("ALTER TABLE settings RENAME TO lost").execute(&mut connection).await.unwrap();
        let (name, limits) = ("w".to_owned(), Limits::default());
        let worker = Worker { store: &store, name, limits, lease: LEASE, ending: &ENDING };
        let judge = Noting { seen: Arc::default() };
        worker.work(judge, |_| ENDING.store(true, Ordering::Relaxed)).await.unwrap();
        assert_eq!(store.run(run).await.unwrap().unwrap().state, State::Waiting);
    });
}

#[test]
fn a_worker_that_ends_gives_its_job_back() {
    on_each(async |store, address| {
        static ENDING: AtomicBool = AtomicBool::new(false);
        ENDING.store(false, Ordering::Relaxed);
        add(&store, &["a"]).await;
        let run = enqueue(&store, "a", "endless", 1).await;
        let seen = Arc::default();
        let workers = start(&address, 1, &seen, &ENDING).await;
        let state = async || store.run(run).await.unwrap().unwrap();
        while state().await.step.is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        ENDING.store(true, Ordering::Relaxed);
        for worker in workers {
            worker.await.unwrap();
        }
        assert_eq!(state().await.state, State::Waiting);
    });
}

#[test]
fn a_stopped_run_ends_its_judge() {
    on_each(async |store, address| {
        static ENDING: AtomicBool = AtomicBool::new(false);
        ENDING.store(false, Ordering::Relaxed);
        add(&store, &["a"]).await;
        let run = enqueue(&store, "a", "endless", 1).await;
        let seen = Arc::default();
        let workers = start(&address, 1, &seen, &ENDING).await;
        let state = async || store.run(run).await.unwrap().unwrap().state;
        while state().await != State::Running {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(store.cancel("a", run, 2).await.unwrap());
        while state().await != State::Cancelled {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(seen.lock().unwrap().running.is_empty());
        ENDING.store(true, Ordering::Relaxed);
        for worker in workers {
            worker.await.unwrap();
        }
    });
}
