//! Stores that other warps see late, in drawn orders that ask for them: a GPU promises no order
//! between accesses to different words unless a fence, a barrier or a release asks for one.
//! [`step`](super::step) calls it before it makes an access.
//!
//! A store that is delayed waits in [`Draws`](super::state::Draws), and lands after a drawn number
//! of points, in one place for all warps. What must not overtake it lands it first: a fence, a
//! barrier or a release of its warp, and an access of its warp to the same bytes. So each result is
//! one that PTX's memory model allows. Not all are shown: reads are never early.

use ptx::Space;

use crate::lanes::{WideRow, lanes};
use crate::machine::state::{InFlight, Split, Warp, Worker};
use crate::machine::{access, store};
use crate::program::Action;

/// A warp comes to a fence or a barrier: its stores land.
pub(super) fn fence(worker: &mut Worker, warp: &Warp) {
    let id = id(worker, warp);
    if let Some(draws) = &mut worker.draws {
        draws.land(worker.launched.memory, |store| store.warp == id);
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
    let memory = worker.launched.memory;
    let (id, rank) = (id(worker, warp), worker.block.rank);
    let Some(draws) = &mut worker.draws else { return false };
    draws.land_due(memory);
    let Some((operation, reach)) = action.access() else {
        // Asynchronous operations and those of whole warps are never delayed.
        draws.land(memory, |store| store.warp == id);
        return false;
    };
    let (width, releases) = (operation.width, operation.order.releases.is_some());
    let mut addresses: WideRow = access::addresses(warp, reach, split);
    let mut in_global = true;
    for lane in lanes(mask) {
        let (space, address) = access::resolve(reach.space, addresses[lane], rank);
        addresses[lane] = address;
        in_global &= space == Space::Global;
    }
    let overlaps = |store: &InFlight| lanes(mask).any(|lane| store.covers(addresses[lane], width));
    draws.land(memory, |store| store.warp == id && (releases || in_global && overlaps(store)));
    let Action::Store(what) = action else { return false };
    if releases || operation.order.volatile || !in_global || !draws.delays(place) {
        return false;
    }
    // An access that faults does so in its place.
    if !lanes(mask).all(|lane| memory.check(addresses[lane], width, true).is_ok()) {
        return false;
    }
    let mut rows = [[0; 32]; 4];
    store::collect(&warp.registers, what, &mut rows);
    draws.delay(InFlight { due: 0, place, warp: id, mask, addresses, rows, width });
    true
}

/// A warp of the launch.
fn id(worker: &Worker, warp: &Warp) -> (u64, u32) {
    (worker.block.number, warp.index)
}
