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

/// How long to wait before a worker is started again that has ended soon.
const PAUSE: Duration = Duration::from_secs(5);

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

/// Runs a worker, again and again.
fn keep_running(course: &Course, file: &PathBuf, ending: &AtomicBool) {
    while !ending.load(Ordering::Relaxed) {
        let began = Instant::now();
        let mut command = Command::new(programs::own_program());
        command.arg("--course").arg(&course.folder).arg("worker").arg("--class").arg(file);
        #[cfg(target_os = "linux")]
        command.arg("--parent").arg(std::process::id().to_string());
        command.current_dir(&course.root).stdin(Stdio::null());
        let ended = match process::in_group(&mut command).spawn() {
            Err(error) => format!("cannot be started: {error}"),
            Ok(mut child) => {
                let ended = process::wait(&mut child, || ending.load(Ordering::Relaxed));
                process::end(&mut child);
                match ended {
                    Err(error) => format!("is lost: {error}"),
                    Ok(None) => return,
                    Ok(Some(status)) => format!("has ended ({status})"),
                }
            }
        };
        note!("note: a worker {ended}; it is started again");
        while began.elapsed() < PAUSE && !ending.load(Ordering::Relaxed) {
            std::thread::sleep(INTERVAL);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
