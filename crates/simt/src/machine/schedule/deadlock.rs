//! Deadlocks: finds who waits for whom, for the trap that stops the launch. If any lanes are in a
//! loop that never ends, that is why.

use crate::lanes::lanes;
use crate::machine::asynchronous;
use crate::machine::state::{Barriers, Fault, Stop, Wait, Warp, Worker};
use crate::program::CLUSTER_BARRIER as CLUSTER;
use crate::trap::{Absence, TrapKind};

/// Finds a block that waits for something other than the cluster's barrier, to report a deadlock.
/// (The cluster's barrier is complete when all threads wait there.)
pub(crate) fn report<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>]) -> Stop {
    for (rank, warps) in worker.by_block(warps) {
        let mut waits = warps.iter().flat_map(|warp| warp.waiting.iter().map(move |entry| (warp, entry)));
        if let Some((warp, (split, _))) = waits.find(|(_, (_, wait))| matches!(wait, Wait::Forever)) {
            worker.select(rank);
            let fault = Fault { kind: TrapKind::EndlessLoop, lane: split.mask.trailing_zeros(), pc: split.pc };
            return worker.stop(fault, warp);
        }
    }
    for (rank, warps) in worker.by_block(warps) {
        let mut waits = warps.iter().flat_map(|warp| &warp.waiting);
        if waits.any(|(_, wait)| !matches!(wait, Wait::Barrier(CLUSTER))) {
            worker.select(rank);
            return in_block(worker, warps);
        }
    }
    Stop::Abandoned
}

/// Describes a deadlock within a block: who waits for which threads.
fn in_block<'l>(worker: &Worker<'l>, warps: &[Warp<'l>]) -> Stop {
    let waiting = || warps.iter().flat_map(|warp| warp.waiting.iter().map(move |entry| (warp, entry)));
    let at_barrier = waiting().find_map(|(warp, (split, wait))| match wait {
        Wait::Barrier(CLUSTER) | Wait::Lanes { .. } | Wait::Asynchronous | Wait::Forever => None,
        Wait::Barrier(barrier) => Some((warp, split, *barrier)),
    });
    if let Some(stop) = asynchronous::turns::deadlock(worker, warps) {
        return stop;
    }
    if let Some((warp, split, barrier)) = at_barrier {
        let parties = Barriers::parties(barrier);
        let comes = |warp: &&Warp| parties.as_ref().is_none_or(|parties| parties.contains(&warp.index));
        let absent = warps.iter().filter(comes).find_map(|warp| {
            lanes(warp.exists).find_map(|lane| {
                let absence = warp.absence(lane as u32);
                (absence != Absence::AtBarrier(barrier)).then_some((warp.thread(lane as u32), absence))
            })
        });
        let (arrived, expected) = worker.block.barriers.state(barrier);
        let kind = TrapKind::BarrierNeverReached { barrier, arrived, expected, missing: absent };
        return worker.stop(Fault { kind, lane: split.mask.trailing_zeros(), pc: split.pc }, warp);
    }
    let in_warp = waiting().find_map(|(warp, (split, wait))| match wait {
        Wait::Lanes { members } => Some((warp, split, *members)),
        Wait::Barrier(_) | Wait::Asynchronous | Wait::Forever => None,
    });
    match in_warp {
        Some((warp, split, members)) => {
            let missing = members & warp.alive & !split.mask;
            let absence = warp.absence(missing.trailing_zeros());
            let kind = TrapKind::WarpNeverConverges { members, missing, absence };
            worker.stop(Fault { kind, lane: split.mask.trailing_zeros(), pc: split.pc }, warp)
        }
        None => Stop::Abandoned,
    }
}
