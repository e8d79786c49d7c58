//! Stores that other warps see late, in drawn orders that ask for them: a GPU promises no order
//! between accesses to different words unless a fence, a barrier or a release asks for one.
//! [`step`](super::step) calls it before it makes an access.
//!
//! A store that is delayed waits in [`Draws`](super::state::Draws), and lands after a drawn number
//! of points, in one place for all warps. What must not overtake it lands it first: a fence, a
//! barrier or a release of its warp, and an access of its warp to the same bytes. A fence or
//! a release whose scope is a block lets a store to global memory stay late for other blocks: it
//! lands when a warp of its block accesses its bytes, or releases to more than the block. So each
//! result is one that PTX's memory model allows. ([`stale`](super::stale) has stale reads.)

use ptx::Space;

use crate::lanes::{WideRow, lanes};
use crate::machine::state::{InFlight, Landing, Split, Warp, Worker};
use crate::machine::{access, store};
use crate::program::{Action, SyncScope};

/// A warp comes to a fence of this scope or a barrier: its stores land, as far as the scope goes.
pub(super) fn fence(worker: &mut Worker, warp: &Warp, scope: SyncScope) {
    let id = id(worker, warp);
    let here = Landing { memory: worker.launched.memory, shared: Some((&worker.block.shared, id.0)) };
    if let Some(draws) = &mut worker.draws {
        draws.release(here, id, scope);
    }
}

/// A warp is about to make an access. Returns whether it is a store that others see later, which
/// then is done.
pub(super) fn delays(
    worker: &mut Worker,
    warp: &Warp,
    split: &Split,
    (action, place): (&Action, u32),
    mask: u32,
) -> bool {
    let (id, rank) = (id(worker, warp), worker.block.rank);
    let (memory, own) = (worker.launched.memory, &worker.block.shared);
    let here = Landing { memory, shared: Some((own, id.0)) };
    let Some(draws) = &mut worker.draws else { return false };
    draws.land_due(here);
    let Some((operation, reach)) = action.access() else {
        // Asynchronous operations and those of whole warps are never delayed.
        draws.release(here, id, SyncScope::All);
        return false;
    };
    let (width, releases) = (operation.width, operation.order.releases);
    let mut addresses: WideRow = access::addresses(warp, reach, split);
    let (mut in_global, mut in_shared) = (0, 0);
    for lane in lanes(mask) {
        let (space, address) = access::resolve(reach.space, addresses[lane], rank);
        addresses[lane] = address;
        in_global |= u32::from(space == Space::Global) << lane;
        in_shared |= u32::from(space == Space::Shared) << lane;
    }
    let overlaps = |store: &InFlight| {
        lanes(if store.shared { in_shared } else { in_global }).any(|lane| store.covers(addresses[lane], width))
    };
    if let Some(scope) = releases {
        draws.release(here, id, scope);
    }
    draws.land(here, |store| store.is_before(id) && overlaps(store));
    let Action::Store(what) = action else { return false };
    let is_shared = in_shared == mask;
    if releases.is_some() || operation.order.volatile || !(is_shared || in_global == mask) || !draws.delays(place) {
        return false;
    }
    // An access that faults does so in its place.
    let is_possible = |lane: usize| match is_shared {
        true => own.check(addresses[lane], width).is_ok(),
        false => memory.check(addresses[lane], width, true).is_ok(),
    };
    if !lanes(mask).all(is_possible) {
        return false;
    }
    let mut rows = [[0; 32]; 4];
    store::collect(&warp.registers, what, &mut rows);
    draws.delay(InFlight { due: 0, place, warp: id, in_block: false, mask, shared: is_shared, addresses, rows, width });
    true
}

/// A warp of the launch.
fn id(worker: &Worker, warp: &Warp) -> (u64, u32) {
    (worker.block.number, warp.index)
}
