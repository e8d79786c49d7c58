//! Lanes that wait to reconverge with lanes that wait for them. For example, a lane that got a lock
//! has left the loop that acquires it, and will release it after the loop, while the others are
//! still in the loop. Since Volta, a GPU lets every thread proceed eventually.
//!
//! Here lanes first wait for each other, as a GPU's do in all other loops. If the others take long,
//! and the code that they execute until they reconverge polls memory, the waiting lanes proceed
//! separately.
//!
//! The lanes that proceed may return from a function to do so, and merge with the others again at a
//! barrier. All other loops keep the hardware's counts, however long they run.

use std::collections::HashSet;

use crate::lanes::ALWAYS;
use crate::machine::calls::take_results;
use crate::machine::state::{Split, Warp};
use crate::program::{Code, NextStep, OnMemory};

/// Instructions that each split of a warp executes in turn after lanes have proceeded separately:
/// most of them poll.
pub(crate) const QUANTUM: u64 = 1 << 8;

/// Lets lanes proceed that have waited too long. Call it when the warp has reached
/// [`Warp::look_at`].
pub(crate) fn look(code: &Code, warp: &mut Warp) {
    for join in warp.impatient_joins() {
        let polls =
            |split: &Split| warp.ways_to(split, join).is_some_and(|ways| ways.iter().any(|way| polls(code, *way)));
        if warp.ready.iter().any(polls) {
            warp.separated = true;
            if let Some((frame, caller)) = warp.abandon_join(join) {
                take_results(code, warp, &frame, &caller);
            }
        }
    }
    warp.look_at = warp.executed + warp.patience();
}

/// Whether a lane that proceeds at `from` may execute atomic operations, or loads other than plain
/// ones, before it reaches `end`.
fn polls(code: &Code, (from, end): (u32, u32)) -> bool {
    let mut seen = HashSet::new();
    let mut next = vec![from];
    while let Some(position) = next.pop() {
        if position == end || !seen.insert(position) {
            continue;
        }
        let Some(instruction) = code.instructions.get(position as usize) else { continue };
        let effects = instruction.action.effects();
        if effects.memory == OnMemory::Polls {
            return true;
        }
        let falls_through = instruction.guard != ALWAYS || matches!(effects.next, NextStep::Following);
        match effects.next {
            NextStep::Callee => return true,
            NextStep::Following | NextStep::End => {}
            NextStep::Jump(target) => next.push(target),
            NextStep::JumpIndexed(targets) => next.extend(targets),
        }
        next.extend(falls_through.then_some(position + 1));
    }
    false
}
