//! The workers that a server starts: processes that end with it, and are started again when they
//! end.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::course::Course;
use crate::process;
use crate::programs;
use crate::terminal::note;

/// How long to wait before a worker is started again that has ended soon: each time twice as long.
const PAUSE: Duration = Duration::from_secs(5);

/// How long a worker runs whose start has not failed.
const STARTED: Duration = Duration::from_secs(60);

/// After how many starts that fail in a row it is started no more.
const TRIES: u32 = 6;

/// How often to look whether all are to end.
const INTERVAL: Duration = Duration::from_millis(50);

/// Running workers. They end when this is dropped: their jobs go back into the queue.
#[derive(Debug)]
pub struct Workers {
    ending: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Starts so many workers of the class in `file`.
pub fn start(course: &Course, file: &Path, count: u32) -> Workers {
    let ending = Arc::new(AtomicBool::new(false));
    let one = |_| {
        let (ending, course) = (Arc::clone(&ending), course.clone());
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        // A thread that waits for it: on Linux a process ends with the thread that started it.
        std::thread::spawn(move || keep_running(&course, &file, &ending))
    };
    let threads = (0..count).map(one).collect();
    Workers { ending, threads }
}

/// Runs a worker, again and again, unless its start always fails.
fn keep_running(course: &Course, file: &PathBuf, ending: &AtomicBool) {
    let mut failed = 0;
    while !ending.load(Ordering::Relaxed) {
        let began = Instant::now();
        let mut command = Command::new(programs::own_program());
        command.arg("--course").arg(&course.folder).arg("worker").arg("--class").arg(file);
        #[cfg(target_os = "linux")]
        command.arg("--parent").arg(std::process::id().to_string());
        command.current_dir(&course.root).stdin(Stdio::null());
        let (ended, code) = match process::in_group(&mut command).spawn() {
            Err(error) => (format!("cannot be started: {error}"), None),
            Ok(mut child) => {
                let ended = process::wait(&mut child, || ending.load(Ordering::Relaxed));
                process::end(&mut child);
                match ended {
                    Err(error) => (format!("is lost: {error}"), None),
                    Ok(None) => return,
                    Ok(Some(status)) => (format!("has ended ({status})"), status.code()),
                }
            }
        };
        // One that was killed may live the next time; its own code says that it cannot begin.
        failed = if code.is_some() && began.elapsed() < STARTED { failed + 1 } else { 0 };
        let Some(pause) = pause(failed) else {
            note!(
                "error: a worker {ended}, the {TRIES} times that it was started: it is started no more; mend what it says \
                 above, and start the server again"
            );
            return;
        };
        note!("note: a worker {ended}; it is started again");
        while began.elapsed() < pause && !ending.load(Ordering::Relaxed) {
            std::thread::sleep(INTERVAL);
        }
    }
}

/// How long to wait after so many starts that have failed in a row, if it is worth another.
fn pause(failed: u32) -> Option<Duration> {
    (failed < TRIES).then(|| PAUSE * 2_u32.pow(failed.saturating_sub(1)))
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_whose_start_always_fails_is_started_ever_less_and_then_no_more() {
        let seconds = |failed| pause(failed).map(|pause| pause.as_secs());
        assert_eq!([0, 1, 2, TRIES - 1, TRIES].map(seconds), [Some(5), Some(5), Some(10), Some(80), None]);
    }
}
