//! Blocks that wait for what others write: how a launch detects that no block makes progress.
//!
//! A block that waits reads the same memory again and again, by volatile, relaxed or acquire loads, or by atomic
//! operations. As long as no block changes device memory, blocks that do nothing else wait in vain. No state is
//! compared: what counts is how many instructions pass without a change, and that each block polls meanwhile.

use crate::counters::InstructionCounters;
use crate::program::{Action, Code, Matrix, SurfaceAction};

/// The instructions of a kernel, by where they are counted, that waiting has to do with.
pub(crate) struct Watch {
    /// Those that write device memory whenever they reach it.
    stores: Vec<u32>,
    /// Those that may write it, or print.
    others: Vec<u32>,
    /// Those that read what another block may write.
    polls: Vec<u32>,
    /// What `stores` and `others` counted when last looked at.
    changes: u64,
    /// What each of `polls` counted then.
    polled: Vec<u64>,
}

impl Watch {
    pub fn new(code: &Code) -> Self {
        let places_of = |wanted: &dyn Fn(&Action) -> bool| {
            let found = code.instructions.iter().filter(|instruction| wanted(&instruction.action));
            let mut places: Vec<u32> = found.map(|instruction| instruction.counter).collect();
            places.sort_unstable();
            places.dedup();
            places.retain(|&place| (place as usize) < code.places.len());
            places
        };
        let polls = places_of(&|action| match action {
            Action::Load(load) => load.order.strong,
            Action::Atomic(_) => true,
            _ => false,
        });
        Self {
            stores: places_of(&|action| matches!(action, Action::Store(_))),
            others: places_of(&|action| match action {
                Action::CallSystem(_) | Action::Asynchronous(_) => true,
                Action::Surface(access) => !matches!(access.action, SurfaceAction::Load),
                Action::Matrix(matrix) => matches!(**matrix, Matrix::StoreFragment(_)),
                _ => false,
            }),
            changes: 0,
            polled: vec![0; polls.len()],
            polls,
        }
    }

    /// Whether any block may have changed device memory since this was last asked, atomic operations left out: these say it themselves.
    pub fn has_changed(&mut self, counters: &[InstructionCounters]) -> bool {
        let of = |places: &[u32], count: fn(&InstructionCounters) -> u64| -> u64 {
            places.iter().filter_map(|&place| counters.get(place as usize)).map(count).sum()
        };
        let stores = of(&self.stores, |counters| counters.global.requests);
        let changes = stores + of(&self.others, |counters| counters.executed);
        std::mem::replace(&mut self.changes, changes) != changes
    }

    /// The instruction that has polled device memory most since this was last asked, if any has.
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
