//! The hooks of the sanitizer. They change nothing but the sanitizer's state.
//! With all checks off, each is one branch.
//!
//! - `accesses`: each access of a warp, before it is made.
//! - `meetings`: fences, barriers of blocks and clusters, and instructions that lanes execute
//!   together.
//! - `asynchronous`: copies and products under way, acquired tensor maps.

mod accesses;
mod asynchronous;
mod meetings;

pub(super) use accesses::{SideAccess, atomic, report_fast, report_per_lane, touch, touch_at};
pub(super) use asynchronous::{
    acquire_maps, arrive_with_products, awaited, begins, copies_end, copies_settle, copy_begins, ends, has_read, left,
    product_begins, products_awaited, products_committed,
};
pub(super) use meetings::{
    arrive, arrive_in_cluster, complete_in_cluster, fence, lanes_absent, lanes_met, lanes_named, left_in_warp,
    wait_late,
};

use crate::machine::state::Worker;
use crate::sanitizer::Checks;

/// The checks; `None` if all are off.
pub(super) fn checks(worker: &Worker) -> Option<Checks> {
    worker.checker.as_ref().map(|checker| checker.checks())
}
