//! Records the accesses that a launch in a drawn order was asked to follow: those to some bytes,
//! with the values before and after. [`step`](super::step) calls it before and after each access.

use std::sync::Arc;

use ptx::Space;

use crate::lanes::lanes;
use crate::machine::access;
use crate::machine::state::{Does, Footprint, Point, Span, Split, Warp, Worker, joined, overlap};
use crate::program::Action;
use crate::sanitizer::Party;
use crate::switches::SplitId;
use crate::touch::{Followed, Touch};

/// A warp is about to make an access: notes it, with what memory holds, if it is followed.
pub(super) fn before(worker: &mut Worker, warp: &Warp, split: &Split, (action, place): (&Action, u32), mask: u32) {
    let Some((operation, reach)) = action.access() else { return };
    let (width, what) = (operation.width, operation.action);
    let (block, rank) = (worker.block.number, worker.block.rank);
    let Some(draws) = &mut worker.draws else { return };
    let Some(followed) = draws.follows else { return };
    let addresses = access::addresses(warp, reach, split);
    for lane in lanes(mask) {
        let (space, address) = access::resolve(reach.space, addresses[lane], rank);
        let shared_of = match space {
            Space::Global => None,
            Space::Shared => Some(block),
            // Other blocks' memory is not followed.
            _ => continue,
        };
        let thread = warp.index * 32 + lane as u32;
        let is_followed = match followed {
            Followed::Bytes { block, address: first, bytes } => {
                block == shared_of && overlap((address, width), (first, bytes))
            }
            Followed::Thread { block: of, thread: its } => of == block && its == thread,
        };
        if !is_followed {
            continue;
        }
        if let Some(noted) = draws.touching.iter_mut().find(|noted| noted.address == address) {
            noted.lanes += 1;
            continue;
        }
        let before = match shared_of {
            None => worker.launched.memory.value(address, width),
            Some(_) => worker.block.shared.value(address, width),
        };
        let site = Party { place, block, thread, action: Some(what) };
        let (time, thread, lanes, late) = (draws.passed, (block, thread), 1, false);
        let after = before;
        draws.touching.push(Touch { time, site, thread, shared_of, address, width, before, after, lanes, late });
    }
}

/// The access has been made: keeps what was noted, with what memory holds now.
pub(super) fn after(worker: &mut Worker) {
    let Some(draws) = &mut worker.draws else { return };
    for noted in std::mem::take(&mut draws.touching) {
        let Touch { address, width, .. } = noted;
        let after = match noted.shared_of {
            None => worker.launched.memory.value(address, width),
            Some(_) => worker.block.shared.value(address, width),
        };
        draws.keep(Touch { after, ..noted });
    }
}

/// A warp is before a point, and its turn ends: notes what it is about to do, for a caller that
/// chooses which warp continues.
#[cold]
pub(super) fn note(worker: &mut Worker, warp: &Warp, split: &Split, (action, point): (&Action, Point), mask: u32) {
    let (block, rank, cluster) = (worker.block.number, worker.block.rank, worker.cluster);
    let Some(notes) = worker.draws.as_mut().and_then(|draws| draws.notes.as_mut()) else { return };
    let id = SplitId { block: block as u32, warp: warp.index as u8, lane: split.mask.trailing_zeros() as u8 & 31 };
    let is_same = |noted: &Footprint| (noted.pc, noted.mask) == (split.pc, split.mask);
    if notes.before.iter().any(|(other, noted)| *other == id && is_same(noted)) {
        return;
    }
    let spans = action.access().map(|(operation, reach)| {
        let addresses = access::addresses(warp, reach, split);
        let span = |lane: usize| {
            let (space, start) = access::resolve(reach.space, addresses[lane], rank);
            let memory = match space {
                Space::Global => 0,
                Space::Shared | Space::ClusterShared => 1 + cluster,
                // The thread's own.
                _ => return None,
            };
            Some(Span { memory, start, end: start.saturating_add(operation.width.into()) })
        };
        joined(lanes(mask).filter_map(span).collect())
    });
    let polls = point == Point::Polls;
    let footprint = Arc::new(Footprint { pc: split.pc, mask: split.mask, polls, does: Does::of(action), spans });
    match notes.before.iter_mut().find(|(other, _)| *other == id) {
        Some((_, noted)) => *noted = footprint,
        None => notes.before.push((id, footprint)),
    }
}
