//! Who observes what a launch does. Observers change nothing but their own state, and without any a
//! load or store pays only for the counters.
//!
//! Each access of a warp is shown to them before it is made, as one [`Observed`]: its decoded
//! [`MemoryOperation`] and the lanes' addresses. A new observer of accesses is a file here and a
//! line in [`uncounted`]:
//!
//! ```text
//! Observed ─▶ sanitizer ── lanes whose access is possible ─▶ requests ─┬─▶ counters
//!                                                                      ├─▶ model ─▶ trace
//!                                                                      └─▶ recorder
//! ```
//!
//! - `sanitizer`: sees the access as PTX has it, and decides which lanes may make it.
//! - `counters`, `model` (the caches of a GPU, with `trace`, from which a time is predicted) and
//!   `recorder` (from which pictures are drawn): see the requests that the hardware makes for it.
//!   These are others where `ptxas` merges accesses. `observed` lists them.
//! - `meetings`: fences, barriers of blocks and clusters, and instructions that lanes execute
//!   together, for the sanitizer.
//! - `asynchronous`: copies and products under way, acquired tensor maps, for the sanitizer.

mod asynchronous;
pub(super) mod counters;
mod meetings;
pub(super) mod model;
mod observed;
pub(super) mod recorder;
pub(super) mod sanitizer;
mod trace;

pub(super) use asynchronous::{
    acquire_maps, arrive_with_products, awaited, begins, completes_phase, copies_end, copies_settle, copy_begins, ends,
    has_read, left, product_begins, products_awaited, products_committed,
};
pub(super) use meetings::{
    arrive, arrive_in_cluster, complete_in_cluster, fence, lanes_absent, lanes_met, lanes_named, left_in_warp,
    wait_late,
};
pub(super) use observed::{Observed, Stored};
pub(super) use trace::{bulk_begins, meets};

use ptx::Space;

use crate::machine::state::{At, Warp, Worker};
use crate::program::{AddressOperand, MbarrierAccess, MemoryOperation};
use crate::sanitizer::Checks;
use observed::each_request;

/// The checks; `None` if all are off.
pub(super) fn checks(worker: &Worker) -> Option<Checks> {
    worker.checker.as_ref().map(|checker| checker.checks())
}

/// Shows an access to all its observers. Returns the lanes whose access is possible.
pub(super) fn access(worker: &mut Worker, warp: &mut Warp, access: &Observed, at: At) -> u32 {
    let mask = uncounted(worker, warp, access, at);
    if mask != 0 {
        counters::access(worker, warp, access, at.with_mask(mask));
    }
    mask
}

/// Shows an access to all its observers but the counters. Returns the lanes whose access is
/// possible.
pub(super) fn uncounted(worker: &mut Worker, warp: &mut Warp, access: &Observed, at: At) -> u32 {
    let mask = sanitizer::access(worker, warp, access, at.mask);
    if mask != 0 && shows_requests(worker, warp, access.space) {
        each_request(worker, warp, access, at.with_mask(mask), &mut |worker, space, request| {
            model::request(worker, warp, access.operation, space, request);
            recorder::request(worker, warp, access.operation, space, request);
        });
    }
    mask
}

/// Shows an operation on mbarriers to the sanitizer, which alone observes it. Returns the lanes
/// whose operation is possible.
pub(super) fn mbarrier(
    worker: &mut Worker,
    warp: &mut Warp,
    reach: &AddressOperand,
    access: MbarrierAccess,
    at: At,
) -> u32 {
    let operation = MemoryOperation::mbarrier(at.place, access);
    sanitizer::by_operand(worker, warp, reach, (&operation, Stored::Unknown), at)
}

/// Whether anyone but the sanitizer and the counters observes the accesses of a warp to a state
/// space.
#[inline(always)]
pub(super) fn shows_requests(worker: &Worker, warp: &Warp, space: Space) -> bool {
    worker.modelled.is_some() || recorder::watches(worker, warp, space)
}
