//! Vector clocks: what each thread of a block knows to have happened, stored per thread only where
//! threads differ. Part of the race detector, which advances and merges them at barriers and
//! fences.
//!
//! Time is one counter of a worker; it continues from block to block. The accesses of a warp are
//! stamped with the time at which the warp's current *interval* began. Whenever a thread releases
//! what it did (at a barrier, at a fence), its warp begins a new interval. A thread knows of
//! another thread's accesses up to some time: the last barrier of all threads (`floor`), a later
//! meeting of whole warps (`warps`), or a later one of some lanes (`threads`, allocated only in
//! blocks where that happens).

use std::sync::Arc;

use super::stamp::Stamp;
use crate::program::SyncScope;

/// The purposes of a fence: an [`SyncScope`], or accesses through another proxy ([`Proxied`]).
pub(super) const PURPOSES: usize = 6;
/// The first purposes are scopes: [`SyncScope`] as a number.
pub(super) const SCOPES: usize = 3;
pub(super) const FOR_ALL: usize = SyncScope::All as usize;
/// What a proxy fence orders generic accesses before: async accesses to a state space, or uses of
/// tensor maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proxied {
    Shared = 3,
    Global = 4,
    Map = 5,
}

/// One item for each purpose.
pub(super) type ByPurpose<T> = [T; PURPOSES];

/// Up to which time each column of the clocks is known; `None`: not at all.
pub(super) type Times = Option<Arc<[u32]>>;

/// Up to this many threads, each has a separate column.
const EACH_APART: u32 = 1024;

/// The clocks of a block.
pub(super) struct Clocks {
    threads: usize,
    /// When the block began.
    pub start: u32,
    /// All threads know of all accesses up to this time.
    pub floor: u32,
    now: u32,
    /// When a thread last learned something that not all threads know.
    shared: u32,
    /// When the current interval of each warp began.
    intervals: Vec<u32>,
    /// Row: a warp that knows; column: a warp known of.
    warps: Vec<u32>,
    /// Row: a thread that knows; column: threads known of, see [`Clocks::column`]. Empty if never
    /// needed.
    lanes: Vec<u32>,
    /// Columns of `lanes`, each of 2 to the power of this many threads.
    pub columns: usize,
    grain: u32,
}

impl Clocks {
    pub fn new(threads: u32) -> Self {
        let warps = threads.div_ceil(32) as usize;
        let grain = if threads > EACH_APART { 5 } else { 0 };
        Self {
            threads: threads as usize,
            start: 0,
            floor: 0,
            now: 0,
            shared: 0,
            intervals: vec![0; warps],
            warps: vec![0; warps * warps],
            lanes: Vec::new(),
            columns: (threads as usize).div_ceil(1 << grain),
            grain,
        }
    }

    /// The column of a thread. Each thread has its own, except in very large clusters, where a warp
    /// shares one.
    #[inline(always)]
    pub fn column(&self, thread: u32) -> usize {
        thread as usize >> self.grain
    }

    /// A block starts.
    pub fn begin(&mut self) {
        self.floor = self.now;
        self.now = self.now.saturating_add(1);
        self.start = self.now;
        self.intervals.fill(self.now);
        self.lanes.clear();
    }

    /// When the current interval of a warp began.
    #[inline(always)]
    pub fn interval(&self, warp: u32) -> u32 {
        self.intervals[warp as usize]
    }

    /// Whether an access of this block is in its warp's current interval: then no other thread
    /// knows of it.
    #[inline(always)]
    pub fn is_present(&self, stamp: Stamp) -> bool {
        self.intervals.get(stamp.thread() as usize / 32) == Some(&stamp.time())
    }

    /// Whether no thread knows more than all threads do.
    #[inline(always)]
    pub fn all_know_the_same(&self) -> bool {
        self.shared <= self.floor
    }

    /// Begins a new interval of a warp; returns the one that ends.
    pub fn advance(&mut self, warp: u32) -> u32 {
        self.now = self.now.saturating_add(1);
        std::mem::replace(&mut self.intervals[warp as usize], self.now)
    }

    /// The time up to which a thread knows of another's accesses, in this block.
    pub fn known(&self, by: u32, of: u32) -> u32 {
        let (column, by, of) = (self.column(of), by as usize, of as usize);
        let all = self.intervals.len();
        let warp = self.warps[by / 32 * all + of / 32];
        let lane = self.lanes.get(by * self.columns + column).copied().unwrap_or(0);
        self.floor.max(warp).max(lane)
    }

    /// All threads have met.
    pub fn meet_all(&mut self) {
        self.floor = self.now;
        self.now = self.now.saturating_add(1);
        self.intervals.fill(self.now);
    }

    /// Some threads have met. Those that wait then know of all others.
    pub fn meet(&mut self, parties: &[Meeting]) {
        self.shared = self.now;
        let all = self.intervals.len();
        let exists = |warp: usize| u32::MAX >> (32 - (self.threads - warp * 32).min(32));
        if self.lanes.is_empty() && parties.iter().all(|party| party.mask == exists(party.warp as usize)) {
            let mut joined = vec![0; all];
            for party in parties {
                let known = &self.warps[party.warp as usize * all..][..all];
                joined.iter_mut().zip(known).for_each(|(joined, known)| *joined = (*joined).max(*known));
            }
            for party in parties {
                let of = &mut joined[party.warp as usize];
                *of = (*of).max(party.time);
            }
            for party in parties.iter().filter(|party| party.waits) {
                self.warps[party.warp as usize * all..][..all].copy_from_slice(&joined);
            }
            return;
        }
        let mut joined = vec![0; self.columns];
        for (thread, _) in parties.iter().flat_map(Meeting::threads) {
            self.join_row(&mut joined, thread);
        }
        for (thread, time) in parties.iter().flat_map(Meeting::threads) {
            let joined = &mut joined[self.column(thread)];
            *joined = (*joined).max(time);
        }
        for (thread, _) in parties.iter().filter(|party| party.waits).flat_map(Meeting::threads) {
            self.learn(thread, &joined);
        }
    }

    /// Some threads have met. `others` arrived without a release: of them, only `released` becomes
    /// known.
    pub fn meet_with(&mut self, parties: &[Meeting], others: &[Meeting], released: &[u32]) {
        let mut joined = released.to_vec();
        joined.resize(self.columns, 0);
        for (thread, time) in parties.iter().flat_map(Meeting::threads) {
            self.join_row(&mut joined, thread);
            let own = &mut joined[self.column(thread)];
            *own = (*own).max(time);
        }
        parties.iter().chain(others).flat_map(Meeting::threads).for_each(|(thread, _)| self.learn(thread, &joined));
    }

    /// What a thread knows of each column, including its own accesses in intervals that have ended.
    pub fn row(&self, thread: u32) -> Vec<u32> {
        let mut row = vec![0; self.columns];
        self.join_row(&mut row, thread);
        row
    }

    fn join_row(&self, joined: &mut [u32], thread: u32) {
        let (by, all) = (thread as usize, self.intervals.len());
        let of_warps = &self.warps[by / 32 * all..][..all];
        for (joined, &of_warp) in joined.chunks_mut(32 >> self.grain).zip(of_warps) {
            joined.iter_mut().for_each(|joined| *joined = (*joined).max(self.floor).max(of_warp));
        }
        let of_lanes = self.lanes.get(by * self.columns..).unwrap_or_default();
        joined.iter_mut().zip(of_lanes).for_each(|(joined, &of_lane)| *joined = (*joined).max(of_lane));
    }

    /// A thread learns what a row knows.
    pub fn learn(&mut self, thread: u32, row: &[u32]) {
        self.shared = self.now;
        if self.lanes.is_empty() {
            self.lanes.resize(self.threads * self.columns, 0);
        }
        let known = &mut self.lanes[thread as usize * self.columns..][..self.columns];
        known.iter_mut().zip(row).for_each(|(known, shared)| *known = (*known).max(*shared));
    }
}

/// Lanes of a warp that have reached a barrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub warp: u32,
    pub mask: u32,
    /// The interval that ended when they arrived.
    pub time: u32,
    pub waits: bool,
}

impl Meeting {
    /// Its threads, each with the time.
    pub fn threads(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let Self { warp, mask, time, .. } = *self;
        (0..32).filter(move |lane| mask >> lane & 1 == 1).map(move |lane| (warp * 32 + lane, time))
    }
}
