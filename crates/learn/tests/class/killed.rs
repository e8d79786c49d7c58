//! Nothing is lost when the server and workers are killed at any moment: each run that was accepted
//! gets its verdict, once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::database::{Class, Worker, file};
use crate::http::Browser;
use crate::server::Server;

/// How often something is killed.
const KILLS: u32 = 50;

/// A generator of moments; the same each time.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[test]
#[ignore = "long: it judges while workers are killed"]
fn killed_workers_lose_nothing() {
    let students = ["anna", "ben", "cleo", "dora"];
    for class in Class::each(&students) {
        // Compiles what the first worker compiles.
        class.enqueue("anna", "guard", &file("guard/solution.rs"), false);
        let first = class.worker();
        class.wait();
        drop(first);
        let mut drawn = Drawn(54);
        let mut runs = Vec::new();
        let mut workers: Vec<Worker> = (0..2).map(|_| class.worker()).collect();
        for kill in 0..KILLS {
            // What was accepted before and while workers die.
            for (number, student) in students.iter().enumerate() {
                if drawn.below(3) == 0 {
                    let text = format!("{}// {kill} {number}\n", file("guard/solution.rs"));
                    runs.push(class.enqueue(student, "guard", &text, drawn.below(2) == 0));
                }
            }
            std::thread::sleep(Duration::from_millis(drawn.below(4000)));
            let victim = drawn.below(2) as usize;
            // The old one is killed as it goes.
            workers[victim] = class.worker();
        }
        class.wait();
        assert!(runs.len() > 30, "{}", runs.len());
        for run in runs {
            let verdicts = class.runtime.block_on(class.store.verdicts(run)).unwrap();
            let statuses: Vec<&str> = verdicts.iter().map(|verdict| verdict.status.as_str()).collect();
            assert_eq!(statuses, ["solved"], "run {run}: {verdicts:?}");
        }
    }
}

/// Submits texts, one after the other, until `stop` is set. Returns the runs that were accepted.
fn submit(browser: &mut Browser, student: u64, stop: &AtomicBool) -> Vec<i64> {
    let (mut drawn, mut accepted) = (Drawn(student), Vec::new());
    let mut base = String::new();
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let text = format!("{}// {student} {number}\n", file("guard/solution.rs"));
        let form = [("text", text.as_str()), ("base", &base)];
        if let Ok(answer) = browser.post("/exercises/guard/submit", &form) {
            let said: serde_json::Value = serde_json::from_str(&answer.body).unwrap_or_default();
            // What is saved now, also if it was saved before an answer that was lost.
            let there = said["saved"]["digest"].as_str().or(said["digest"].as_str());
            base = there.unwrap_or_default().to_owned();
            accepted.extend(said["run"].as_i64());
        }
        std::thread::sleep(Duration::from_millis(500 + drawn.below(2500)));
    }
    accepted
}

#[test]
#[ignore = "long: it judges while the server and workers are killed"]
fn a_killed_server_loses_nothing_that_it_accepted() {
    let students = ["anna", "ben", "cleo", "dora"];
    for class in Class::each(&students) {
        let mut server = Server::start(&class, 2);
        let mut worker = class.worker();
        let mut browsers = students.map(|student| server.browser(&class, student));
        let (stop, mut drawn) = (AtomicBool::new(false), Drawn(55));
        let accepted: Vec<i64> = std::thread::scope(|scope| {
            let all: Vec<_> = browsers
                .iter_mut()
                .zip(1..)
                .map(|(browser, number)| {
                    let stop = &stop;
                    scope.spawn(move || submit(browser, number, stop))
                })
                .collect();
            for _ in 0..KILLS {
                std::thread::sleep(Duration::from_millis(drawn.below(4000)));
                match drawn.below(3) {
                    0 => server.kill(),
                    1 => server.kill_a_worker(drawn.below(2) as usize),
                    _ => worker = class.worker(),
                }
            }
            stop.store(true, Ordering::Relaxed);
            all.into_iter().flat_map(|one| one.join().unwrap()).collect()
        });
        class.wait();
        drop(worker);
        assert!(accepted.len() > 30, "{}", accepted.len());
        for run in accepted {
            let verdicts = class.runtime.block_on(class.store.verdicts(run)).unwrap();
            let statuses: Vec<&str> = verdicts.iter().map(|verdict| verdict.status.as_str()).collect();
            assert_eq!(statuses, ["solved"], "run {run}: {verdicts:?}");
        }
    }
}
