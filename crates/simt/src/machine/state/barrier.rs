//! The barriers of a block: arrivals, completion, reductions. A block owns them;
//! `machine/barriers.rs` and the warpgroup's products arrive, and the schedule takes the complete
//! ones.
//!
//! A barrier waits for all threads that have not exited, as in the PTX manual (`exit`) and on the
//! hardware. If threads of a warp exit while others of it wait, that is usually a bug and is
//! reported (`sync`); whole warps that return early are reported on request (`strict`).

use std::ops::Range;

use crate::lanes::lanes;
use crate::program::{BARRIER_NUMBERS, WARPGROUP_BARRIER};

/// Warps of a warpgroup.
pub(crate) const WARPS_OF_GROUP: u32 = 4;

/// One phase of a barrier, from one completion to the next.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Threads that have arrived; a whole warp counts as 32.
    arrived: u32,
    /// Threads that it waits for.
    expected: u32,
    /// Whether it is for all threads of the block, so that exited threads are not waited for.
    for_all: bool,
    /// For reductions: threads whose predicate was true, and threads that had one.
    yes: u32,
    votes: u32,
    /// The `yes` and `votes` of the last completion.
    outcome: Outcome,
}

/// The result of a reduction over a barrier.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    pub yes: u32,
    pub votes: u32,
}

impl State {
    /// The barrier is complete: starts the next phase.
    fn end(&mut self) {
        *self = Self { outcome: Outcome { yes: self.yes, votes: self.votes }, ..Self::default() };
    }
}

/// How many threads these lanes count as: the missing threads of a partial warp arrive and exit
/// with its first thread.
fn counted(mask: u32, exists: u32) -> u32 {
    let missing = if mask & 1 == 1 { exists.count_zeros() } else { 0 };
    mask.count_ones() + missing
}

/// The barriers of a block.
#[derive(Default)]
pub(crate) struct Barriers {
    states: [State; BARRIER_NUMBERS as usize],
    threads: u32,
    /// Threads that have exited, counted like arrivals.
    exited: u32,
    complete: u32,
}

/// Threads that arrive together.
pub(crate) struct Arrival {
    pub barrier: u32,
    /// The number of threads that the instruction names.
    pub threads: Option<u32>,
    pub mask: u32,
    /// Lanes of the warp that are threads of the block.
    pub exists: u32,
    /// The lanes whose predicate is true, for a reduction.
    pub predicate: Option<u32>,
}

impl Barriers {
    pub fn new(threads: u32) -> Self {
        Self { threads, ..Self::default() }
    }

    pub fn reset(&mut self) {
        *self = Self::new(self.threads);
    }

    /// Counts an arrival. Fails if there is no such barrier, or if it cannot wait for this many
    /// threads.
    pub fn arrive(&mut self, arrival: &Arrival) -> Result<(), ()> {
        let full = self.threads.next_multiple_of(32);
        let expected = arrival.threads.unwrap_or(full);
        let for_all = arrival.threads.is_none();
        let state = self.states.get_mut(arrival.barrier as usize).ok_or(())?;
        if expected == 0 || !expected.is_multiple_of(32) || expected > full {
            return Err(());
        }
        if state.arrived > 0 && state.expected != expected {
            return Err(());
        }
        state.expected = expected;
        state.for_all = for_all;
        state.arrived += counted(arrival.mask, arrival.exists);
        if let Some(predicate) = arrival.predicate {
            state.yes += (predicate & arrival.mask).count_ones();
            state.votes += arrival.mask.count_ones();
        }
        let exited = if for_all { self.exited } else { 0 };
        if state.arrived + exited >= expected {
            self.complete |= 1 << arrival.barrier;
            state.end();
        }
        Ok(())
    }

    /// Lanes of a warp exit. Barriers for all threads do not wait for them (PTX ISA, `exit`).
    pub fn exit(&mut self, mask: u32, exists: u32) {
        self.exited += counted(mask, exists);
        for (barrier, state) in self.states.iter_mut().enumerate() {
            if state.for_all && state.arrived > 0 && state.arrived + self.exited >= state.expected {
                self.complete |= 1 << barrier;
                state.end();
            }
        }
    }

    /// Whether any threads have exited.
    pub fn has_exits(&self) -> bool {
        self.exited > 0
    }

    /// The warps of the block that take part in a barrier, if it is not for all.
    pub fn parties(barrier: u32) -> Option<Range<u32>> {
        let group = barrier.checked_sub(WARPGROUP_BARRIER)?;
        Some(group * WARPS_OF_GROUP..(group + 1) * WARPS_OF_GROUP)
    }

    /// Whether the threads that have arrived at a barrier, if any, reduce a predicate over it.
    pub fn reduces(&self, barrier: u32) -> Option<bool> {
        let state = self.states.get(barrier as usize).filter(|state| state.arrived > 0)?;
        Some(state.votes > 0)
    }

    /// The barriers that have become complete since the last call.
    #[inline]
    pub fn take_complete(&mut self) -> impl Iterator<Item = u32> + use<> {
        let complete = std::mem::take(&mut self.complete);
        lanes(complete).map(|barrier| barrier as u32)
    }

    /// Whether any barrier has become complete since then.
    pub fn has_complete(&self) -> bool {
        self.complete != 0
    }

    pub fn outcome(&self, barrier: u32) -> Outcome {
        self.states.get(barrier as usize).map_or(Outcome::default(), |state| state.outcome)
    }

    /// Threads that have arrived, and threads expected, without the missing threads of partial
    /// warps.
    pub fn state(&self, barrier: u32) -> (u32, u32) {
        let State { arrived, expected, .. } = self.states.get(barrier as usize).copied().unwrap_or_default();
        (arrived.min(self.threads), expected.min(self.threads))
    }
}
