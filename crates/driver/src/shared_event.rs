//! An event that several processes share: a file without a name that says how often it was recorded,
//! and which of these recordings have not ended, with the process that made each. All work is done
//! when its call returns, so a recording ends at once, unless functions of the host are before it.
//! A later recording, on another stream, may end first.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::boundary::host_memory::file_without_name;

/// How long a process that waits for another sleeps before it looks again.
const PAUSE: Duration = Duration::from_micros(200);

/// The event. Threads take turns by the lock, processes by that of the file.
pub struct SharedEvent(Mutex<File>);

#[derive(Default)]
struct Progress {
    recorded: u64,
    /// The recordings that have not ended: the number, and the process.
    under_way: Vec<[u64; 2]>,
}

impl SharedEvent {
    /// Bytes of its file while no recording is under way.
    pub const BYTES: u64 = 8;

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

    /// Begins a recording, which ends at once or later. Returns its number.
    pub fn record(&self, ends: bool) -> u64 {
        self.change(|progress| {
            progress.recorded += 1;
            let process = u64::from(std::process::id());
            progress.under_way.extend((!ends).then_some([progress.recorded, process]));
            progress.recorded
        })
    }

    /// Ends a recording.
    pub fn end(&self, number: u64) {
        self.change(|progress| progress.under_way.retain(|&[other, _]| other != number));
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
        let mut bytes = vec![0; file.metadata().map_or(0, |about| about.len()) as usize];
        let _ = file.read_exact_at(&mut bytes, 0);
        let mut progress = Progress::of(&bytes);
        let result = work(&mut progress);
        let now = progress.bytes();
        if now != bytes {
            let _ = file.write_all_at(&now, 0).and_then(|()| file.set_len(now.len() as u64));
        }
        let _ = file.unlock();
        result
    }
}

impl Progress {
    fn of(bytes: &[u8]) -> Self {
        let (numbers, _) = bytes.as_chunks::<8>();
        let mut numbers = numbers.iter().copied().map(u64::from_le_bytes);
        let recorded = numbers.next().unwrap_or(0);
        let under_way = std::iter::from_fn(|| Some([numbers.next()?, numbers.next()?])).collect();
        Self { recorded, under_way }
    }

    fn bytes(&self) -> Vec<u8> {
        let numbers = [self.recorded].into_iter().chain(self.under_way.iter().flatten().copied());
        numbers.flat_map(u64::to_le_bytes).collect()
    }

    /// Whether a recording has ended, as it has if its process is gone.
    fn has_ended(&self, number: u64) -> bool {
        !self.under_way.iter().any(|&[other, process]| other == number && !is_gone(process))
    }
}

/// Whether a process has ended, also if its parent has not asked for its exit code yet.
fn is_gone(process: u64) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) else { return true };
    // The state follows the name, which may contain anything.
    stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with(['Z', 'X']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_end_in_any_order() {
        let event = SharedEvent::new().unwrap();
        let own = u64::from(std::process::id());
        event.change(|progress| {
            progress.recorded = 3;
            // No process has the number of the third.
            progress.under_way = vec![[1, own], [2, own], [3, u64::MAX]];
        });
        assert!(event.is_reached());
        let has_ended = |number| event.change(|progress| progress.has_ended(number));
        assert_eq!([1, 2, 3].map(has_ended), [false, false, true]);
        event.end(2);
        assert_eq!([1, 2, 3].map(has_ended), [false, true, true]);
        event.wait(2);
        event.change(|progress| progress.under_way.clear());
        event.wait(1);
        let length = event.change(|progress| progress.bytes().len() as u64);
        assert_eq!((event.recorded(), length), (3, SharedEvent::BYTES));
    }
}
