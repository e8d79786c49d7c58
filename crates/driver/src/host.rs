//! What a program's host code did: calls, copies, memory, launches and when they ran by predicted
//! time. It is written to the file that `COALESCE_HOST_RECORD` names when the process ends in
//! order, for whoever judges host code.
//!
//! The file may hold a key. It is read and erased when the driver is first called, and is part of
//! the record: a record without the key was not written by this driver.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use simt::Report;
use simt::models::Links;
use simt::transfers::Outside;

use crate::boundary::{call, say};
use crate::objects::{Handle, LEGACY};
use crate::settings::SETTINGS;

/// How many pieces of work a record lists; what is beyond is counted alone.
const MOST: usize = 1 << 14;

/// What a program's host code did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HostRecord {
    /// What the file held when the driver was first called.
    pub key: String,
    /// Calls by name: how many, and how many of them returned an error.
    pub calls: BTreeMap<String, [u64; 2]>,
    /// Launches and copies that ended, in order.
    pub work: Vec<Done>,
    /// How many there were in all.
    pub works: u64,
    /// Allocations of device memory, pinned and managed memory.
    pub allocations: u64,
    /// Bytes of those that were not freed, or only with their context.
    pub leaked_bytes: u64,
    /// How many these were.
    pub leaked: u64,
    /// Streams and events that were not destroyed.
    pub leaked_handles: u64,
    /// Between which times, in microseconds, the program asked how long something took.
    pub timed: Vec<[f64; 2]>,
    /// Kernels at which a launch faulted, or the checks found something.
    pub faulty: Vec<String>,
    /// Bytes that the launches of each kernel stored to global memory.
    pub stored: BTreeMap<String, u64>,
}

/// A launch or a copy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Done {
    /// What it was.
    pub what: What,
    /// The number of its stream; the default stream has 0.
    pub stream: usize,
    /// When it began and ended, in microseconds of predicted time.
    pub time: [f64; 2],
}

/// What was done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum What {
    /// A launch.
    Launch {
        /// The kernel.
        kernel: String,
        /// The preference between shared memory and L1: none (0), shared (1), L1 (2), equal (3).
        cache: u32,
        /// The preferred carveout in percent; -1: none.
        carveout: i32,
    },
    /// A copy.
    Copy {
        /// Bytes, without those between rows.
        bytes: u64,
        /// Between which sides.
        direction: Direction,
        /// Whether rows of the device's side lie apart, as in a pitched allocation.
        pitched: bool,
        /// Whether the host's side is memory that was not pinned.
        pageable: bool,
    },
}

/// Between which sides something is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// From the host to the device.
    ToDevice,
    /// From the device to the host.
    ToHost,
    /// On one side.
    Within,
}

/// The record of this process.
#[derive(Default)]
pub struct Recorder {
    record: HostRecord,
    /// When the link between host and device is free, in each direction.
    link: [f64; 2],
}

/// The file of the record, and the key that it held.
static FILE: LazyLock<Option<(File, String)>> = LazyLock::new(|| {
    let path = SETTINGS.host_record.as_ref()?;
    let opened = || {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let mut key = String::new();
        file.read_to_string(&mut key)?;
        file.set_len(0)?;
        Ok((file, key))
    };
    let opened: std::io::Result<_> = opened();
    opened.map_err(|error| say(&format!("the record {path} cannot be written: {error}"))).ok()
});

/// Reads and erases the key, before the program has done anything else with the driver.
pub fn begin() {
    LazyLock::force(&FILE);
}

impl Recorder {
    /// When work that could begin and end at these times does, and whether the host waits for its
    /// end: a copy between host and device takes the time of the link, which carries one copy at a
    /// time in each direction.
    pub fn place(&mut self, what: &What, links: &Links, stream: Handle, begins: f64, ends: f64) -> ([f64; 2], bool) {
        let What::Copy { bytes, direction, pageable, .. } = *what else { return ([begins, ends], false) };
        let to_device = match direction {
            Direction::ToDevice => true,
            Direction::ToHost => false,
            Direction::Within => return ([begins, ends], false),
        };
        let outside = if pageable { Outside::Pageable } else { Outside::Pinned };
        let free = &mut self.link[usize::from(!to_device)];
        let starts = begins.max(*free);
        *free = starts + links.copy_us(bytes, outside, to_device).unwrap_or(0.0);
        ([starts, *free], pageable || stream == LEGACY)
    }

    /// Notes work that ran at this time.
    pub fn note(&mut self, what: What, stream: Handle, time: [f64; 2]) {
        self.record.works += 1;
        if self.record.work.len() < MOST {
            self.record.work.push(Done { what, stream, time });
        }
    }

    /// Notes an allocation.
    pub fn allocated(&mut self) {
        self.record.allocations += 1;
    }

    /// Notes that an allocation was not freed.
    pub fn leaks(&mut self, bytes: u64) {
        self.record.leaked += 1;
        self.record.leaked_bytes += bytes;
    }

    /// Notes that the program asked how long something took.
    pub fn timed(&mut self, from: f64, until: f64) {
        if self.record.timed.len() < MOST {
            self.record.timed.push([from, until]);
        }
    }

    /// Notes a fault of a kernel.
    pub fn faulty(&mut self, kernel: &str) {
        if self.record.faulty.len() < MOST {
            self.record.faulty.push(kernel.to_owned());
        }
    }

    /// Notes what a launch stored to global memory.
    pub fn stored(&mut self, kernel: &str, report: &Report) {
        if FILE.is_some() {
            *self.record.stored.entry(kernel.to_owned()).or_default() += report.counters().global.store.bytes;
        }
    }

    /// Writes the record, at the end of the process, with the bytes of each allocation that is
    /// left, and how many streams and events are.
    pub fn finish(&mut self, left: &[u64], handles: u64) {
        let Some((file, key)) = &*FILE else { return };
        left.iter().for_each(|&bytes| self.leaks(bytes));
        let mut record = std::mem::take(&mut self.record);
        record.leaked_handles = handles;
        record.key = key.clone();
        record.calls = call::counted();
        let text = serde_json::to_vec(&record).unwrap_or_default();
        let mut file: &File = file;
        let written = file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).and_then(|_| file.write_all(&text));
        if let Err(error) = written {
            say(&format!("the record of the host code cannot be written: {error}"));
        }
    }
}
