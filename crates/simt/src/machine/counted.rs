//! Counts accesses that the hardware makes otherwise than PTX has them: with wider requests, or
//! with those of others.

use crate::address::Access;
use crate::lanes::WideRow;
use crate::machine::access::{addresses, by_space, count, count_shape, follow_shape};
use crate::machine::state::{At, Warp, Worker};
use crate::program::{AddressOperand, CountedAs};
use crate::site::AccessAction;

/// Counts the requests that these lanes make in place of a load or a store.
#[inline(never)]
pub(super) fn count_as(worker: &mut Worker, warp: &Warp, requests: &[CountedAs], action: AccessAction, at: At) {
    let At { split, mask, counter } = at;
    for &CountedAs { reach, width } in requests {
        let counters = &mut worker.counters[counter as usize];
        if let Some(found) = follow_shape(&mut worker.shapes, &warp.registers, &reach, mask, width) {
            count_shape(counters, action, found);
            continue;
        }
        let addresses = addresses(warp, &reach, split);
        // No access is rejected here.
        let _ = by_space(reach.space, worker.block.rank, mask, &addresses, &mut |space, mask, addresses| {
            count(counters, warp, space, action, &Access::new(mask, addresses, width));
            Ok(())
        });
    }
}

/// The requests of an access: those in its place, or its own.
pub(super) fn requests<'r>(counted: Option<&'r [CountedAs]>, own: &'r CountedAs) -> &'r [CountedAs] {
    counted.unwrap_or(std::slice::from_ref(own))
}

/// An access of this width, as a request.
pub(super) fn own(reach: &AddressOperand, width: u32) -> CountedAs {
    CountedAs { reach: *reach, width }
}

/// The lanes that make an atomic operation, if one of them may make it for all.
pub(super) fn lanes_of(one_lane: bool, mask: u32) -> u32 {
    if one_lane { mask & mask.wrapping_neg() } else { mask }
}

/// The addresses of each of these requests.
pub(super) fn all_addresses(warp: &Warp, requests: &[CountedAs], at: At) -> Vec<WideRow> {
    requests.iter().map(|request| addresses(warp, &request.reach, at.split)).collect()
}
