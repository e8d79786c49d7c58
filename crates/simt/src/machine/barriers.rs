//! `bar` and `barrier`: threads of a block that wait for each other. Changes the block's barriers
//! and the warp's splits.

use ptx::BarrierReduction;

use crate::machine::observe;
use crate::machine::state::{Arrival, Fault, Next, Outcome, RunningLaunch, Split, Wait, Warp, Worker};
use crate::program::{Action, Barrier, NUMBERED_BARRIERS};
use crate::trap::{Absence, TrapKind};

pub(super) fn wait(
    worker: &mut Worker,
    warp: &mut Warp,
    split: &mut Split,
    barrier: &Barrier,
    mask: u32,
) -> Result<Next, Fault> {
    let first = mask.trailing_zeros() & 31;
    let fault = |kind| Fault { kind, lane: first, pc: split.pc };
    let number = warp.registers.word(barrier.number)[first as usize];
    let threads = barrier.threads.map(|threads| warp.registers.word(threads)[first as usize]);
    if number >= NUMBERED_BARRIERS {
        return Err(fault(TrapKind::InvalidBarrier { barrier: number, threads }));
    }
    let missing = warp.alive & !mask;
    if barrier.aligned && missing != 0 && !warp.separated {
        if let Some(next) = before_others_end(worker, warp, split, (number, missing)) {
            return Ok(next);
        }
        let lane = missing.trailing_zeros();
        let (missing, absence) = (warp.thread(lane), warp.absence(lane));
        return Err(fault(TrapKind::BarrierDivergence { barrier: number, missing, absence }));
    }
    if split.mask != mask {
        // A guard that only some lanes satisfy, on a barrier that threads may execute separately.
        let missing = warp.thread((split.mask & !mask).trailing_zeros());
        let kind = TrapKind::BarrierDivergence { barrier: number, missing, absence: Absence::Diverged };
        return Err(fault(kind));
    }
    let predicate = barrier.reduction.map(|reduction| warp.registers.predicate(reduction.predicate));
    let arrival = Arrival { barrier: number, threads, mask, exists: warp.exists, predicate };
    let arrived = worker.block.barriers.arrive(&arrival);
    arrived.map_err(|()| fault(TrapKind::InvalidBarrier { barrier: number, threads }))?;
    observe::arrive(worker, warp, number, mask, barrier.waits);
    if barrier.waits {
        warp.waiting.push((*split, Wait::Barrier(number)));
    } else {
        split.pc += 1;
        if !worker.block.barriers.has_complete() {
            return Ok(Next::On);
        }
        warp.ready.push(*split);
    }
    Ok(if worker.block.barriers.has_complete() { Next::Pause } else { Next::Gone })
}

/// A split has reached a barrier for its whole warp, and lanes are missing. Lanes that only have to
/// exit do so first, because the barrier does not wait for threads that have exited. Lanes that do
/// not wait anywhere yet run first, too.
fn before_others_end(
    worker: &mut Worker,
    warp: &mut Warp,
    split: &Split,
    (barrier, missing): (u32, u32),
) -> Option<Next> {
    let code = worker.launched.code;
    let ends = |pc: u32| code.ends_at(pc);
    let ending = missing & warp.waits_at_joins(ends);
    if ending != 0 {
        observe::left_in_warp(worker, warp, split, (barrier, ending));
        warp.release_joins(ends);
        return Some(Next::Later);
    }
    let waits_at_barrier = |other: &Split| {
        let instruction = code.instructions.get(other.pc as usize);
        matches!(instruction.map(|instruction| &instruction.action), Some(Action::Barrier(_)))
    };
    let goes_on = |other: &Split| other.mask & missing != 0 && !waits_at_barrier(other);
    warp.ready.iter().any(goes_on).then_some(Next::Later)
}

/// Gives a split that has waited at a barrier the result of its reduction.
pub(super) fn pass(launched: &RunningLaunch, warp: &mut Warp, split: &Split, outcome: &Outcome) {
    let Some(Action::Barrier(barrier)) =
        launched.code.instructions.get(split.pc as usize).map(|instruction| &instruction.action)
    else {
        return;
    };
    let Some(reduction) = barrier.reduction else { return };
    warp.enter(split);
    let all = |answer| if answer { u32::MAX } else { 0 };
    match reduction.op {
        BarrierReduction::PopulationCount => warp.registers.set_word(reduction.d, split.mask, &[outcome.yes; 32]),
        BarrierReduction::And => {
            warp.registers.set_predicate(reduction.d, split.mask, all(outcome.yes == outcome.votes))
        }
        BarrierReduction::Or => warp.registers.set_predicate(reduction.d, split.mask, all(outcome.yes != 0)),
    }
}
