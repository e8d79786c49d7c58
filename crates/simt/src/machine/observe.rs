//! The hooks of the sanitizer. Instructions and the schedule call them, and they change nothing but the sanitizer's state.
//! With all checks off, each is one branch.
//!
//! - `accesses`: each access of a warp, before it is made.
//! - `meetings`: fences, barriers, and instructions that lanes execute together.
//! - `hopper`: copies and products under way, the barrier of a cluster. The memory course needs none of it.

mod accesses;
mod hopper;
mod meetings;

pub(super) use accesses::{Other, apart, atomic, together, touch, touch_at};
pub(super) use hopper::{
    acquire_maps, arrive_in_cluster, arrive_with_products, begins, complete_in_cluster, copies_end, copies_settle,
    copy_begins, ends, has_read, product_begins, products_awaited, products_committed, wait_apart,
};
pub(super) use meetings::{arrive, fence, lanes_absent, lanes_met, lanes_named, left_in_warp};

use crate::machine::state::Worker;
use crate::sanitizer::{Checks, Races};

/// The checks; `None` if all are off.
pub(super) fn checks(worker: &Worker) -> Option<Checks> {
    worker.checker.as_ref().map(|checker| checker.checks())
}

fn races<'w>(worker: &'w mut Worker) -> Option<&'w mut Races> {
    worker.checker.as_mut()?.races()
}
