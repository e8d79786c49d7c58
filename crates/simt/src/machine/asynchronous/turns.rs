//! What the schedule asks of this folder between the turns of warps.

use crate::machine::asynchronous::bulk::transit;
use crate::machine::asynchronous::cluster;
use crate::machine::asynchronous::phases;
use crate::machine::state::{Fault, Stop, Wait, Warp, Worker};

/// How many waits in a row may fail in a block that does nothing else, before the launch is
/// stopped.
pub(crate) const PATIENCE: u32 = 1 << 14;

/// The worker's blocks begin.
pub(crate) fn begin(worker: &mut Worker) {
    worker.asynchronous.clear();
    worker.block.all_mut().iter_mut().for_each(|block| block.departures.clear());
}

/// All threads of the running block have exited.
pub(crate) fn end(worker: &mut Worker) -> Result<(), Fault> {
    transit::finish(worker)
}

/// Each warp has had its turn, with or without `progress`. Returns whether threads can proceed that
/// could not before.
pub(crate) fn release<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>], progress: bool) -> bool {
    worker.asynchronous.cluster_arrivals
        && (cluster::complete(worker, warps) || !progress && cluster::release_joins(warps))
}

/// Resumes the splits of a warp that wait and need no longer.
#[inline(always)]
pub(crate) fn resume<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>) -> Result<(), Stop> {
    if waits(warp) { resume_waiting(worker, warp, false) } else { Ok(()) }
}

/// Called when no split can proceed: lets the waits fail, up to a limit. Returns whether any did.
pub(crate) fn fail_waits<'l>(worker: &mut Worker<'l>, warps: &mut [Warp<'l>]) -> Result<bool, Stop> {
    if worker.asynchronous.failed_waits >= PATIENCE || !warps.iter().any(waits) {
        return Ok(false);
    }
    worker.asynchronous.failed_waits += 1;
    for (rank, warps) in worker.by_block(warps) {
        worker.select(rank);
        warps.iter_mut().try_for_each(|warp| resume_waiting(worker, warp, true))?;
    }
    Ok(true)
}

/// Why a launch stops in which some split of this block waits.
pub(crate) fn deadlock(worker: &Worker, warps: &[Warp]) -> Option<Stop> {
    let mut waiting = warps.iter().flat_map(|warp| warp.waiting.iter().map(move |entry| (warp, entry)));
    let (warp, (split, _)) = waiting.find(|(_, (_, wait))| matches!(wait, Wait::Asynchronous))?;
    let kind = phases::never_complete(worker, warp, split);
    Some(worker.stop(Fault { kind, lane: split.mask.trailing_zeros(), pc: split.pc }, warp))
}

/// Resumes splits whose wait is over; if this is the `last` attempt, all that wait.
fn resume_waiting<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>, last: bool) -> Result<(), Stop> {
    for (mut split, wait) in std::mem::take(&mut warp.waiting) {
        if !matches!(wait, Wait::Asynchronous) {
            warp.waiting.push((split, wait));
            continue;
        }
        match phases::test(worker, warp, &split, split.mask, last) {
            Ok(true) => {
                split.pc += 1;
                warp.ready.push(split);
            }
            Ok(false) => {}
            Err(fault) => return Err(worker.stop(fault, warp)),
        }
    }
    Ok(())
}

#[inline]
fn waits(warp: &Warp) -> bool {
    warp.waiting.iter().any(|(_, wait)| matches!(wait, Wait::Asynchronous))
}
