//! `cargo xtask load`: a class on this machine, by HTTP. Starts `cargo learn serve --class` with a
//! database and students of its own, has each student save and run at a steady pace, then has all
//! read pages as fast as they get them, and says how long verdicts took. Ends everything that it
//! has started.
//!
//! | module | contents |
//! | --- | --- |
//! | [`server`] | the class: its files, students, links, processes and memory |
//! | [`http`] | a browser |

mod server;

#[path = "../../../crates/learn/tests/class/http.rs"]
mod http;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::Value;
use wording::several;

use self::http::Browser;
use self::server::Server;
use crate::program::Failed;
use crate::workspace::{self, NotInWorkspace};

/// Options of the chore.
#[derive(Debug, Args)]
pub struct Options {
    /// How many students there are
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=380))]
    students: u64,
    /// How often each of them saves and runs, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
    /// For how long, in minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=120))]
    minutes: u64,
    /// How many workers judge
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    workers: u32,
    /// What they work on
    #[arg(long, value_name = "NAME", default_value = "padding")]
    exercise: String,
    /// The database, instead of a new file: postgres://USER@HOST/NAME, with nothing in it
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

/// Why there are no numbers.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    NotInWorkspace(#[from] NotInWorkspace),
    #[error(transparent)]
    Run(#[from] Failed),
    #[error("{what}: {problem}")]
    Input { what: String, problem: std::io::Error },
    #[error("{0}")]
    Server(String),
    #[error("{0} without a verdict: see above")]
    Lost(String),
}

/// How many pages each student reads: fewer than the server allows at once.
const PAGES: u64 = 150;

/// How many of them read at once.
const READERS: usize = 8;

/// How often an answer that is lost is asked for again.
const TRIES: u32 = 3;

/// Measures.
///
/// # Errors
///
/// What failed, and that a run has no verdict.
pub fn run(options: &Options) -> Result<(), Error> {
    let root = workspace::root()?;
    let solution = root.join("exercises").join(&options.exercise).join("solution.rs");
    let text = std::fs::read_to_string(&solution).map_err(input(&solution.display().to_string()))?;
    let mut server = Server::prepare(&root, options)?;
    let begun = Instant::now();
    server.start()?;
    let first_page = begun.elapsed();
    let mut browsers = server.sign_all_in()?;
    server.wait_for_workers(options.workers)?;
    // Something is compiled for the first verdict.
    judged(&mut browsers[0], options, &format!("{text}// first\n")).map_err(Error::Server)?;
    let before = server.memory();
    let (waits, lost, half_way) = std::thread::scope(|scope| {
        let half_way = scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(30 * options.minutes));
            server.memory()
        });
        let (waits, lost) = save_and_run(&mut browsers, options, &text);
        (waits, lost, half_way.join().unwrap_or(before))
    });
    let after = server.memory();
    let processor = server.processor();
    let (pages, seconds) = read_pages(&mut browsers, options);
    let processor = server.processor() - processor;
    println!(
        "{} who save and run every {} s for {} min, {}",
        several(options.students as usize, "student"),
        options.every,
        options.minutes,
        several(options.workers as usize, "worker")
    );
    println!("verdicts            {:8}", waits.len());
    println!("without a verdict   {lost:8}");
    println!("median wait         {:8.2} s", at(&waits, 0.5));
    println!("99th percentile     {:8.2} s", at(&waits, 0.99));
    println!("start to first page {:8.0} ms", 1e3 * first_page.as_secs_f64());
    println!("pages               {:8.0} a second", pages / seconds);
    println!("processor time      {:8.2} ms a page", 1e3 * processor / pages);
    for (of, [before, half_way, after]) in [
        ("server", [before.server, half_way.server, after.server]),
        ("workers", [before.workers, half_way.workers, after.workers]),
    ] {
        println!("memory, {of:<12}{before:8.0} MiB, {half_way:.0} MiB half-way, {after:.0} MiB at the end");
    }
    println!("load of the machine {:>8}", server::load());
    match lost {
        0 => Ok(()),
        _ => Err(Error::Lost(several(lost as usize, "run"))),
    }
}

/// All students save and run at a steady pace, one after the other. Returns the waits in seconds,
/// sorted, and how many runs had no verdict.
fn save_and_run(browsers: &mut [Browser], options: &Options, text: &str) -> (Vec<f64>, u64) {
    let (lost, begun) = (AtomicU64::new(0), Instant::now());
    let (every, end) = (Duration::from_secs(options.every), Duration::from_secs(60 * options.minutes));
    let students = browsers.len() as u32;
    let mut waits = std::thread::scope(|scope| {
        let all: Vec<_> = browsers
            .iter_mut()
            .enumerate()
            .map(|(number, browser)| {
                let lost = &lost;
                scope.spawn(move || {
                    let mut waits = Vec::new();
                    let mut next = every * number as u32 / students;
                    while next < end {
                        std::thread::sleep(next.saturating_sub(begun.elapsed()));
                        let saved = Instant::now();
                        match judged(browser, options, &format!("{text}// {number} at {next:?}\n")) {
                            Ok(()) => waits.push(saved.elapsed().as_secs_f64()),
                            Err(why) => {
                                eprintln!("wrong  student {number} at {next:?}: {why}");
                                lost.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        // One who waits longer saves when the verdict is there.
                        while next <= begun.elapsed() {
                            next += every;
                        }
                    }
                    waits
                })
            })
            .collect();
        all.into_iter().flat_map(|one| one.join().unwrap_or_default()).collect::<Vec<f64>>()
    });
    waits.sort_by(f64::total_cmp);
    (waits, lost.into_inner())
}

/// Saves and runs a text, and waits for its verdict.
fn judged(browser: &mut Browser, options: &Options, text: &str) -> Result<(), String> {
    let (page, name) = (format!("/exercises/{}", options.exercise), &options.exercise);
    let said = |error: std::io::Error| error.to_string();
    // As a page that knows what is saved.
    let there = browser.get(&format!("{page}/file")).map_err(said)?;
    let there: Value = serde_json::from_str(&there.body).unwrap_or_default();
    let base = there["digest"].as_str().unwrap_or_default().to_owned();
    let answer = browser.post(&format!("{page}/run"), &[("text", text), ("base", &base)]).map_err(said)?;
    let run: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    let Some(events) = run["events"].as_str() else {
        return Err(format!("{name}: {} {}", answer.status, answer.body.trim()));
    };
    let is_end =
        |data: &str| ["verdict", "error", "stopped"].iter().any(|end| data.contains(&format!("\"event\":\"{end}\"")));
    for _ in 0..TRIES {
        match browser.events(events, is_end) {
            Ok(Some(data)) if data.contains("\"solved\":true") => return Ok(()),
            Ok(Some(data)) => return Err(data.chars().take(300).collect()),
            Ok(None) | Err(_) => {}
        }
    }
    Err("the events ended".to_owned())
}

/// All students read pages as fast as they get them. Returns how many, and in how many seconds.
fn read_pages(browsers: &mut [Browser], options: &Options) -> (f64, f64) {
    let (read, begun) = (AtomicU64::new(0), Instant::now());
    let page = format!("/exercises/{}", options.exercise);
    let share = browsers.len().div_ceil(READERS);
    std::thread::scope(|scope| {
        for own in browsers.chunks_mut(share) {
            let (read, page) = (&read, &page);
            scope.spawn(move || {
                for browser in own {
                    for number in 0..PAGES {
                        let path = if number % 2 == 0 { "/" } else { page.as_str() };
                        if browser.get(path).is_ok_and(|answer| answer.status == 200) {
                            read.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    (read.into_inner() as f64, begun.elapsed().as_secs_f64())
}

/// The value below which this share of the sorted ones are.
fn at(sorted: &[f64], share: f64) -> f64 {
    let place = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

fn input(what: &str) -> impl FnOnce(std::io::Error) -> Error {
    let what = what.to_owned();
    move |problem| Error::Input { what, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let sorted: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!((at(&sorted, 0.5), at(&sorted, 0.99), at(&sorted, 1.0)), (100.0, 198.0, 200.0));
        assert_eq!(at(&[7.0], 0.99), 7.0);
        assert!(at(&[], 0.5).is_nan());
    }
}
