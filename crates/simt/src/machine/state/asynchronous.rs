//! The state of `machine/asynchronous`: bulk copies under way, as bytes to shared memory, which
//! mbarriers count, and bytes to global memory, for which threads wait; and who has arrived at the
//! barrier of a cluster. Nobody else reads or changes it.

use std::collections::VecDeque;

use crate::lanes::Update;
use crate::tensor_map::{Piece, RowBytes, RowLayout};

/// The most bytes under way to mbarriers.
pub(crate) const LIMIT: usize = 64 << 20;

/// Bytes that one access moves.
pub(crate) const UNIT: usize = 16;

/// Bytes under way to shared memory.
pub(crate) struct Arriving {
    /// The destination, and the mbarrier that counts the bytes, both in shared memory.
    pub to: u64,
    pub barrier: u64,
    pub bytes: Vec<u8>,
    pub layout: RowLayout,
    pub reduction: Option<Update>,
    /// The sanitizer's number for it.
    pub number: u32,
}

/// What a cluster has under way to mbarriers, oldest first.
#[derive(Default)]
pub(crate) struct Arrivals {
    pub list: VecDeque<Arriving>,
    pub bytes: usize,
}

/// Bytes under way from shared to global memory.
pub(crate) struct Departing {
    pub from: RowBytes,
    /// The destination; bytes outside all pieces are dropped.
    pub pieces: Vec<Piece>,
    pub reduction: Option<Update>,
    /// The sanitizer's number for it.
    pub number: u32,
}

/// What a thread has under way to global memory.
pub(crate) enum Leaving {
    Copy {
        departing: Departing,
        /// The bytes, once they have been read.
        read: Option<Vec<u8>>,
    },
    /// Ends a group.
    Commit,
}

/// What the threads of a block have under way to global memory, oldest first: the thread, and what
/// it sends.
#[derive(Default)]
pub(crate) struct Departures {
    pub list: Vec<(u32, Leaving)>,
}

/// What the blocks of a worker have under way.
#[derive(Default)]
pub(crate) struct Asynchronous {
    pub arrivals: Arrivals,
    /// Whether any thread has reached the cluster's barrier since it was last complete.
    pub cluster_arrivals: bool,
    /// How many waits for a phase have failed in a row.
    pub failed_waits: u32,
}

impl Asynchronous {
    pub fn clear(&mut self) {
        self.arrivals.list.clear();
        (self.arrivals.bytes, self.cluster_arrivals, self.failed_waits) = (0, false, 0);
    }
}

/// The lanes of a warp at the barrier of its cluster.
#[derive(Clone, Copy, Default)]
pub(crate) struct AtCluster {
    /// Those that have arrived, while it is not complete.
    pub arrived: u32,
    /// The warp's clock at the last of these arrivals.
    pub arrived_at: u64,
    /// Those that had arrived when it completed but have not waited yet.
    pub passed: u32,
}

impl Departures {
    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// Begins a thread's copy.
    pub fn begin(&mut self, thread: u32, departing: Departing) {
        self.list.push((thread, Leaving::Copy { departing, read: None }));
    }

    /// How many entries a thread waits for.
    pub fn awaited(&self, thread: u32, groups_left: u32) -> usize {
        let commits = self.list.iter().enumerate().rev();
        let mut commits = commits.filter(|(_, (of, what))| *of == thread && matches!(what, Leaving::Commit));
        commits.nth(groups_left as usize).map_or(0, |(index, _)| index + 1)
    }
}
