//! What a launch counts with a model and without.

use simt::{InstructionCounters, Report};

/// The line of an instruction whose accesses are not the same on a model, although the same lanes executed it as often: what is
/// counted of them are facts about addresses. How often a thread polls is a matter of time; so is what is found, at times, and
/// left out then.
pub fn differing(plain: &Report, modelled: &Report) -> Option<u32> {
    if !plain.findings().is_empty() {
        return None;
    }
    let same = |one: &InstructionCounters, other: &InstructionCounters| {
        let executed = |counters: &InstructionCounters| (counters.executed, counters.active_lanes);
        executed(one) != executed(other) || one == other
    };
    let mut both = plain.instructions().zip(modelled.instructions());
    both.find(|(one, other)| !same(one.counters, other.counters)).map(|(one, _)| one.info.ptx_line)
}
