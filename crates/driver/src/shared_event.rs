//! An event that several processes share: a file without a name that says how often it was recorded,
//! how many of these recordings have ended, and which process made the last. All work is done when
//! its call returns, so a recording ends at once, unless functions of the host are before it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::boundary::callbacks::Behind;
use crate::boundary::host_memory::file_without_name;

/// How long a process that waits for another sleeps before it looks again.
const PAUSE: Duration = Duration::from_micros(200);

/// The event. Threads take turns by the lock, processes by that of the file.
pub struct SharedEvent(Mutex<File>);

#[derive(Clone, Copy, Default, PartialEq)]
struct Progress {
    recorded: u64,
    ended: u64,
    process: u64,
}

impl SharedEvent {
    /// Bytes of its file.
    pub const BYTES: u64 = 24;

    /// A new one, which was never recorded.
    pub fn new() -> io::Result<Self> {
        file_without_name(Self::BYTES).map(Self::of)
    }

    /// The event of this file.
    pub fn of(file: File) -> Self {
        Self(Mutex::new(file))
    }

    /// The file's number.
    pub fn descriptor(&self) -> RawFd {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_raw_fd()
    }

    /// Records the event. The recording ends once the host functions before it are done.
    pub fn record(self: &Arc<Self>, behind: Vec<Behind>) {
        let number = self.change(|progress| {
            progress.recorded += 1;
            progress.process = std::process::id().into();
            progress.recorded
        });
        let event = self.clone();
        let end = move || event.change(|progress| progress.ended = progress.ended.max(number));
        if behind.iter().all(|behind| behind.is_reached()) {
            return end();
        }
        std::thread::spawn(move || {
            behind.into_iter().for_each(Behind::wait);
            end();
        });
    }

    /// The number of the last recording so far.
    pub fn recorded(&self) -> u64 {
        self.change(|progress| progress.recorded)
    }

    /// Waits for a recording.
    pub fn wait(&self, number: u64) {
        while !self.change(|progress| progress.has_ended(number)) {
            std::thread::sleep(PAUSE);
        }
    }

    /// Whether the last recording has ended.
    pub fn is_reached(&self) -> bool {
        self.change(|progress| progress.has_ended(progress.recorded))
    }

    /// Reads the file under its lock, and writes it back if `work` changed it.
    fn change<T>(&self, work: impl FnOnce(&mut Progress) -> T) -> T {
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A file in memory can be locked, read and written.
        let _ = file.lock();
        let mut bytes = [[0; 8]; 3];
        let _ = file.read_exact_at(bytes.as_flattened_mut(), 0);
        let [recorded, ended, process] = bytes.map(u64::from_le_bytes);
        let before = Progress { recorded, ended, process };
        let mut now = before;
        let result = work(&mut now);
        if now != before {
            let bytes = [now.recorded, now.ended, now.process].map(u64::to_le_bytes);
            let _ = file.write_all_at(bytes.as_flattened(), 0);
        }
        let _ = file.unlock();
        result
    }
}

impl Progress {
    /// Whether a recording has ended. If the process that recorded last is gone, all have.
    fn has_ended(&self, number: u64) -> bool {
        self.ended >= number || is_gone(self.process)
    }
}

/// Whether a process has ended, also if its parent has not asked for its exit code yet.
fn is_gone(process: u64) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) else { return true };
    // The state follows the name, which may contain anything.
    stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with(['Z', 'X']))
}
