//! Detects that no block of a launch makes progress because all wait for others to write.
//! `one_thread` asks between rounds; this only reads counters.
//!
//! A waiting block reads the same memory again and again, with volatile, relaxed or acquire loads
//! or atomic operations. As long as no block changes device memory, such blocks make no progress.
//! No state is compared: what counts is how many instructions pass without a change, and that each
//! block polls meanwhile.

use crate::counters::InstructionCounters;
use crate::program::{Code, OnMemory};

/// The counters of a kernel's instructions that matter for waiting.
pub(crate) struct Waiting {
    /// Instructions that write device memory whenever they access it.
    stores: Vec<u32>,
    /// Instructions that may write it, or print.
    others: Vec<u32>,
    /// Instructions that read what another block may write.
    polls: Vec<u32>,
    /// The count of `stores` and `others` at the last check.
    changes: u64,
    /// The count of each of `polls` at that time.
    polled: Vec<u64>,
}

impl Waiting {
    pub fn new(code: &Code) -> Self {
        let places_of = |wanted: OnMemory| {
            let found = code.instructions.iter().filter(|step| step.action.effects().memory == wanted);
            let mut places: Vec<u32> = found.map(|instruction| instruction.place).collect();
            places.sort_unstable();
            places.dedup();
            places.retain(|&place| (place as usize) < code.places.len());
            places
        };
        let polls = places_of(OnMemory::Polls);
        Self {
            stores: places_of(OnMemory::Stores),
            others: places_of(OnMemory::MayStore),
            changes: 0,
            polled: vec![0; polls.len()],
            polls,
        }
    }

    /// Whether any block may have changed device memory since the last call, apart from atomic
    /// operations, which record it themselves.
    pub fn has_changed(&mut self, counters: &[InstructionCounters]) -> bool {
        let of = |places: &[u32], count: fn(&InstructionCounters) -> u64| -> u64 {
            places.iter().filter_map(|&place| counters.get(place as usize)).map(count).sum()
        };
        let stores = of(&self.stores, |counters| counters.global.requests);
        let changes = stores + of(&self.others, |counters| counters.executed);
        std::mem::replace(&mut self.changes, changes) != changes
    }

    /// The instruction that has polled device memory most since the last call, if any.
    pub fn polled(&mut self, counters: &[InstructionCounters]) -> Option<u32> {
        let mut most = (0, None);
        for (&place, before) in self.polls.iter().zip(&mut self.polled) {
            let now = counters.get(place as usize).map_or(0, |counters| counters.global.requests);
            let since = now - std::mem::replace(before, now);
            if since > most.0 {
                most = (since, Some(place));
            }
        }
        most.1
    }
}
