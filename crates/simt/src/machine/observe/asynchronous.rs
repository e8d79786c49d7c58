//! Reports to the sanitizer what runs beside the threads: `cp.async`, bulk copies, products of a
//! warpgroup; and acquired tensor maps.

use ptx::Space;

use crate::lanes::{WideRow, lanes};
use crate::machine::access;
use crate::machine::observe::trace;
use crate::machine::state::{Warp, Worker};
use crate::sanitizer::{Operation, TrackedCopy, Underway};

/// Some lanes acquire tensor maps, at these addresses, for the copies that they describe.
pub(in crate::machine) fn acquire_maps(
    worker: &mut Worker,
    warp: &Warp,
    mask: u32,
    (space, addresses): (Space, &WideRow),
) {
    let rank = worker.block.rank;
    let Some(races) = worker.races() else { return };
    for lane in lanes(mask) {
        if let (Space::Global, map) = access::resolve(space, addresses[lane], rank) {
            races.acquire_map(warp.index, lane as u32, map);
        }
    }
}

/// Starts tracking a `cp.async` whose accesses have been reported. Returns its number, 0 if it is
/// not tracked.
pub(in crate::machine) fn copy_begins(worker: &mut Worker, copy: impl FnOnce() -> TrackedCopy) -> u32 {
    worker.checker.as_mut().map_or(0, |checker| checker.begin_copy(copy()))
}

/// Lanes publish their copies: from now on, others may wait for them. Each entry is a copy's number
/// and its lanes.
pub(in crate::machine) fn copies_settle(worker: &mut Worker, copies: &[(u32, u32)]) {
    if let Some(checker) = &mut worker.checker {
        copies.iter().for_each(|&(number, mask)| checker.settle_copy(number, mask));
    }
}

/// A phase of the mbarrier at this address is complete.
pub(in crate::machine) fn completes_phase(worker: &mut Worker, address: u64) {
    if let Some(races) = worker.races() {
        races.complete_phase(address);
    }
    trace::completes_phase(worker, address);
}

/// Copies have completed, and a thread has observed it.
pub(in crate::machine) fn copies_end(worker: &mut Worker, copies: &[(u32, u32)]) {
    if let Some(checker) = &mut worker.checker {
        copies.iter().for_each(|&(number, mask)| checker.end_copy(number, mask));
    }
}

/// Starts tracking an asynchronous operation whose accesses have been reported. Returns its number,
/// 0 if it is not tracked.
pub(in crate::machine) fn begins(worker: &mut Worker, operation: impl FnOnce() -> Operation) -> u32 {
    worker.checker.as_mut().map_or(0, |checker| checker.begin_operation(operation))
}

/// An asynchronous operation has read its source.
pub(in crate::machine) fn has_read(worker: &mut Worker, number: u32) {
    if let Some(underway) = underway(worker) {
        underway.has_read(number);
    }
}

/// An asynchronous operation has completed, and a thread has waited for it.
pub(in crate::machine) fn ends(worker: &mut Worker, number: u32) {
    if let Some(underway) = underway(worker) {
        underway.end(number);
    }
}

/// The thread that began a copy to global memory has waited for it.
pub(in crate::machine) fn awaited(worker: &mut Worker, number: u32) {
    if let Some(checker) = &mut worker.checker {
        checker.end_awaited(number);
    }
}

/// A block ends that has not waited for a copy to global memory.
pub(in crate::machine) fn left(worker: &mut Worker, number: u32) {
    if let Some(underway) = underway(worker) {
        underway.leave(number);
    }
}

/// A warp has begun its part of a product, which reads these pieces of shared memory, of 16 bytes
/// each.
pub(in crate::machine) fn product_begins(worker: &mut Worker, warp: &Warp, place: u32, pieces: Vec<u64>) {
    if let Some(checker) = &mut worker.checker {
        checker.begin_product(place, warp.index, pieces);
    }
    if let Some(races) = worker.races() {
        races.multiply(warp.index);
    }
}

/// A warp commits its products so far as a group.
pub(in crate::machine) fn products_committed(worker: &mut Worker, warp: &Warp) {
    let block = worker.block.number;
    if let Some(underway) = underway(worker) {
        underway.commit_products(block, warp.index);
    }
}

/// A warp has waited until at most this many groups are pending.
pub(in crate::machine) fn products_awaited(worker: &mut Worker, warp: &Warp, groups_left: u32) {
    let block = worker.block.number;
    if let Some(underway) = underway(worker) {
        underway.await_products(block, warp.index, groups_left as usize);
    }
}

fn underway<'w>(worker: &'w mut Worker) -> Option<&'w mut Underway> {
    worker.checker.as_mut()?.underway()
}

/// A warp has reached the point where its warpgroup waits for products.
pub(in crate::machine) fn arrive_with_products(worker: &mut Worker, warp: &Warp, barrier: u32) {
    if let Some(races) = worker.races() {
        races.arrive_with_products(barrier, warp.index);
    }
}
