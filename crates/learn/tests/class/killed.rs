//! Nothing is lost when workers are killed at any moment: each run gets its verdict, once.

use std::time::Duration;

use crate::database::{Class, Worker, file};

/// How often a worker is killed.
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
