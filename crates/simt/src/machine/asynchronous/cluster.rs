//! The barrier of a cluster (PTX ISA, "Parallel Synchronization and Communication Instructions:
//! barrier.cluster").
//!
//! A thread arrives, and later waits until all threads of the cluster that have not exited have
//! arrived. Each warp knows which of its lanes have arrived; the blocks of a cluster run on one
//! worker, which checks all of them.
//!
//! Threads that have exited are not waited for. Lanes that only wait to reconverge do not delay the
//! barrier.

use crate::machine::observe;
use crate::machine::state::{Fault, Split, Wait, Warp, Worker};
use crate::program::{CLUSTER_BARRIER as CLUSTER, ClusterBarrier};
use crate::trap::TrapKind;

/// Some lanes of a split arrive, or wait. Returns whether they continue at once.
pub(crate) fn execute(
    worker: &mut Worker,
    warp: &mut Warp,
    split: &Split,
    mask: u32,
    &ClusterBarrier { waits, relaxed, aligned }: &ClusterBarrier,
) -> Result<bool, Fault> {
    let fault = |kind, lanes: u32| Fault { kind, lane: lanes.trailing_zeros() & 31, pc: split.pc };
    let missing = warp.alive & !mask;
    if aligned && missing != 0 && !warp.separated {
        let lane = missing.trailing_zeros();
        let (missing, absence) = (warp.thread(lane), warp.absence(lane));
        return Err(fault(TrapKind::BarrierDivergence { barrier: CLUSTER, missing, absence }, mask));
    }
    // Each thread waits once for each arrival.
    let on_their_way = warp.cluster.arrived | warp.cluster.passed;
    let wrong = mask & if waits { !on_their_way } else { on_their_way };
    if wrong != 0 {
        return Err(fault(TrapKind::ClusterBarrierOrder { waits }, wrong));
    }
    if !waits {
        warp.cluster.arrived |= mask;
        warp.cluster.arrived_at = warp.executed;
        worker.asynchronous.cluster_arrivals = true;
        observe::arrive_in_cluster(worker, warp, mask, relaxed);
        return Ok(true);
    }
    if warp.executed != warp.cluster.arrived_at + 1 {
        observe::wait_late(worker);
    }
    let waiting = mask & !warp.cluster.passed;
    warp.cluster.passed &= !mask;
    if waiting == 0 {
        observe::model::acquire(worker);
        return Ok(true);
    }
    let rest = split.mask & !waiting;
    let waits = if rest == 0 { *split } else { warp.part(*split, waiting, &[(split.pc + 1, rest)], split.pc + 1) };
    warp.waiting.push((waits, Wait::Barrier(CLUSTER)));
    Ok(false)
}

/// If all threads of the cluster have arrived or exited, resumes those that wait. Returns whether
/// they have.
pub(crate) fn complete<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>]) -> bool {
    if warps.iter().any(|warp| warp.alive & !warp.cluster.arrived != 0) {
        return false;
    }
    worker.asynchronous.cluster_arrivals = false;
    observe::complete_in_cluster(worker, warps);
    for (rank, warps) in worker.by_block(warps) {
        let mut waited = false;
        for warp in warps {
            waited |= pass(warp);
        }
        if waited {
            worker.select(rank);
            observe::model::acquire(worker);
        }
    }
    true
}

/// Resumes the splits of a warp that wait. Returns whether there were any.
fn pass(warp: &mut Warp) -> bool {
    let mut waited = false;
    warp.cluster.passed |= std::mem::take(&mut warp.cluster.arrived) & warp.alive;
    for (mut split, wait) in std::mem::take(&mut warp.waiting) {
        if matches!(wait, Wait::Barrier(CLUSTER)) {
            warp.cluster.passed &= !split.mask;
            split.pc += 1;
            warp.ready.push(split);
            waited = true;
        } else {
            warp.waiting.push((split, wait));
        }
    }
    waited
}

/// Called when nothing can proceed and the barrier is not complete: lanes that wait to reconverge
/// with others of their warp proceed without them. Usually they are about to exit. Returns whether
/// there were any.
pub(crate) fn release_joins(warps: &mut [Warp]) -> bool {
    let mut any = false;
    for warp in warps.iter_mut().filter(|warp| warp.alive & !warp.cluster.arrived != 0) {
        any |= warp.release_joins(|_| true);
    }
    any
}
