//! A run, as a process `cargo learn run NAME --events`, whose lines are relayed. It ends, with all
//! that it has started, when it is stopped, when nobody reads its lines any more, and with this
//! program. One run goes on at a time: a further one ends the one before.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::course::Course;
use crate::isolation::Limits;
use crate::process::{self, in_group};
use crate::programs;

/// The most that is read of a run. A verdict has some hundred kilobytes.
const MOST: u64 = 16 << 20;

/// How many lines may wait for a reader.
const WAITING: usize = 64;

/// The run that goes on.
#[derive(Debug, Default)]
pub struct Runs {
    stop: Mutex<Arc<AtomicBool>>,
}

impl Runs {
    /// Stops it.
    pub fn stop(&self) {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).store(true, Ordering::Relaxed);
    }

    /// Starts a run of an exercise with these arguments. `done` gets the line with the verdict,
    /// and what it returns is the last line.
    pub fn start(
        &self,
        course: &Course,
        name: &str,
        arguments: &[String],
        done: impl FnOnce(Option<&str>) -> Option<Value> + Send + 'static,
    ) -> Receiver<String> {
        let stop = Arc::default();
        let before =
            std::mem::replace(&mut *self.stop.lock().unwrap_or_else(PoisonError::into_inner), Arc::clone(&stop));
        before.store(true, Ordering::Relaxed);
        let mut command = Command::new(programs::own_program());
        command.arg("--course").arg(&course.folder).args(["run", name, "--events"]).args(arguments);
        #[cfg(target_os = "linux")]
        command.arg("--parent").arg(std::process::id().to_string());
        command.current_dir(&course.root).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (lines, receiver) = channel(WAITING);
        // A thread that waits for it: on Linux the process ends with the thread that started it.
        std::thread::spawn(move || {
            let last = match in_group(&mut command).spawn() {
                Ok(child) => relayed(child, &lines, &stop, done),
                Err(error) => Some(failed(&format!("the run cannot be started: {error}"))),
            };
            if let Some(last) = last {
                let _ = lines.blocking_send(format!("{last}\n"));
            }
        });
        receiver
    }
}

/// Relays the lines of a process until it has ended. Returns the last line to send.
fn relayed(
    mut child: Child,
    lines: &Sender<String>,
    stop: &AtomicBool,
    done: impl FnOnce(Option<&str>) -> Option<Value>,
) -> Option<Value> {
    let events = child.stdout.take().map(|pipe| reader(pipe, lines, Some));
    let notes = child.stderr.take().map(|pipe| reader(pipe, lines, |line| Some(note(&line))));
    let is_stopped = || stop.load(Ordering::Relaxed);
    let ended = process::wait(&mut child, || is_stopped() || lines.is_closed());
    process::end(&mut child);
    let [verdict, said] = [events, notes].map(|reader| reader.and_then(|reader| reader.join().ok().flatten()));
    match ended {
        Err(error) => Some(failed(&format!("the run is lost: {error}"))),
        Ok(None) if is_stopped() => Some(json!({ "event": "stopped" })),
        Ok(None) => None,
        Ok(Some(_)) if verdict.as_ref().is_some_and(|line| line.contains("\"event\":\"verdict\"")) => {
            done(verdict.as_deref())
        }
        // Its last line has said why.
        Ok(Some(_)) if said.is_some_and(|line| line.contains("\"event\":\"error\"")) => done(None),
        Ok(Some(status)) if is_out_of_time(status) => Some(failed(&Limits::default().out_of_time())),
        Ok(Some(status)) => Some(failed(&format!("the run ended without a verdict ({status})"))),
    }
}

/// Whether a process was ended for the processor time that it took.
#[cfg(unix)]
fn is_out_of_time(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal() == Some(rustix::process::Signal::XCPU.as_raw())
}

/// There are no limits.
#[cfg(not(unix))]
fn is_out_of_time(_status: ExitStatus) -> bool {
    false
}

/// Relays the lines of a pipe, as `changed` makes them. Returns the last one.
fn reader(
    pipe: impl Read + Send + 'static,
    lines: &Sender<String>,
    changed: fn(String) -> Option<String>,
) -> std::thread::JoinHandle<Option<String>> {
    let lines = lines.clone();
    std::thread::spawn(move || {
        let mut last = None;
        for line in BufReader::new(pipe.take(MOST)).lines().map_while(Result::ok).filter_map(changed) {
            if lines.blocking_send(format!("{line}\n")).is_err() {
                break;
            }
            last = Some(line);
        }
        last
    })
}

/// A line of the standard error as an event.
fn note(line: &str) -> String {
    match line.strip_prefix("error: ") {
        Some(problem) => failed(problem),
        None => json!({ "event": "note", "text": line }),
    }
    .to_string()
}

/// The event of a run that has no verdict.
pub fn failed(why: &str) -> Value {
    json!({ "event": "error", "text": why })
}
