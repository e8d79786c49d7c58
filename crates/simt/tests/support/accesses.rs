//! Compares what a launch counts with a model and without.

use simt::Report;
use simt::counts::InstructionCounters;

/// The line of an instruction whose accesses are counted differently on a model, although the same
/// lanes executed it as often: these counts depend only on addresses. Instructions whose executions
/// depend on timing, such as polling, are left out.
pub fn differing(plain: &Report, modelled: &Report) -> Option<u32> {
    if !plain.findings().is_empty() {
        return None;
    }
    let same = |one: &InstructionCounters, other: &InstructionCounters| {
        let executed =
            |counters: &InstructionCounters| (counters.executed, counters.active_lanes, counters.guarded_off_lanes);
        executed(one) != executed(other) || one == other
    };
    let mut both = plain.instructions().zip(modelled.instructions());
    both.find(|(one, other)| !same(one.counters, other.counters)).map(|(one, _)| one.info.ptx_line)
}
