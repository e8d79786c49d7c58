//! Reads that find older values, in drawn orders that ask for them: see `state::views`.
//! [`step`](super::step) calls it before it makes an access.
//!
//! A read goes back to values that a write has replaced since the last acquire, fence or barrier
//! that makes its thread know of that write. Accesses that are volatile, atomic or acquire find the
//! newest value. What other threads read or wrote is known to the whole warp, and what came from
//! other blocks to the whole block, so not all results that PTX's memory model allows are shown,
//! and no others.

use ptx::Space;

use crate::lanes::{Row, lanes};
use crate::machine::access;
use crate::machine::state::{Landing, Split, Warp, Worker};
use crate::machine::transfer::Transfer;
use crate::program::{Action, SyncScope};

/// What some lanes of a load find instead of the newest values.
pub(super) struct Older {
    mask: u32,
    rows: [Row; 4],
}

/// A warp comes to a fence of this scope, or to a barrier, at which it waits.
pub(super) fn synchronise(worker: &mut Worker, warp: &Warp, scope: SyncScope, waits: bool) {
    let id = (worker.block.number, warp.index);
    let Some(draws) = worker.draws.as_mut().filter(|draws| draws.stale > 0) else { return };
    // What it has waited for so far, it passes on here.
    draws.views.go_on(id, warp.waiting.is_empty());
    match waits {
        true => draws.views.wait(id, scope),
        false => draws.views.acquire(id, scope),
    }
}

/// A warp is about to make an access: notes what it writes, and draws what it reads. Returns the
/// older values, if it is a load that finds some.
pub(super) fn before(worker: &mut Worker, warp: &Warp, split: &Split, action: &Action, mask: u32) -> Option<Older> {
    let (id, rank) = ((worker.block.number, warp.index), worker.block.rank);
    let here = Landing { memory: worker.launched.memory, shared: Some((&worker.block.shared, id.0)) };
    let draws = worker.draws.as_mut().filter(|draws| draws.stale > 0)?;
    draws.views.go_on(id, warp.waiting.is_empty());
    let Some((operation, reach)) = action.access() else {
        // What is asynchronous, or done by whole warps, may have waited for anything, and a test of
        // a phase may begin to wait.
        draws.views.acquire(id, SyncScope::All);
        draws.views.wait(id, SyncScope::All);
        return None;
    };
    let (width, order) = (operation.width, &operation.order);
    if let Some(scope) = order.acquires {
        draws.views.acquire(id, scope);
    }
    let is_load = matches!(action, Action::Load(_));
    if is_load && order.volatile {
        draws.views.acquire(id, SyncScope::Block);
    }
    let reads = !matches!(action, Action::Store(_));
    let may_be_early = is_load && !order.volatile && order.acquires.is_none();
    let roll = match may_be_early && draws.views.may_go_back(id) {
        true => draws.stales(),
        false => None,
    };
    let addresses = access::addresses(warp, reach, split);
    let place = |lane: usize| match access::resolve(reach.space, addresses[lane], rank) {
        (Space::Global, address) => Some((None, address)),
        (Space::Shared, address) => Some((Some(id.0), address)),
        _ => None,
    };
    let mut older = Older { mask: 0, rows: [[0; 32]; 4] };
    let mut has_older = false;
    if !is_load {
        draws.views.tick();
    }
    for lane in lanes(mask) {
        let Some((shared_of, address)) = place(lane) else { continue };
        let bytes = (address, width);
        let value = || here.value_at(shared_of.is_some(), address, width);
        let (has, found) = match reads {
            true => draws.views.read(id, shared_of, bytes, value, roll),
            false => (false, None),
        };
        has_older |= has;
        if let Some(found) = found {
            older.mask |= 1 << lane;
            (0..).zip(&mut older.rows).for_each(|(word, row)| row[lane] = (found >> (32 * word)) as u32);
            let mut touching = draws.touching.iter_mut();
            if let Some(touch) = touching.find(|touch| (touch.shared_of, touch.address) == (shared_of, address)) {
                (touch.before, touch.late) = (found, true);
            }
        }
        if !is_load {
            draws.views.write(id, shared_of, bytes, value(), false);
        }
    }
    if may_be_early && has_older {
        draws.views.went_back(id, roll.is_some());
    }
    (older.mask != 0).then_some(older)
}

impl Older {
    /// Gives a load's lanes what they find, after it was made.
    pub fn give(&self, warp: &mut Warp, action: &Action) {
        if let Action::Load(load) = action {
            load.end(&mut warp.registers, &self.rows, self.mask);
        }
    }
}
