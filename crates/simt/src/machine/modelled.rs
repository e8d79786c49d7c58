//! Passes accesses to the model of a GPU, if the launch has one. Instructions call it before each access; without a model, that is
//! one branch. It changes only the model's caches and counters.

use ptx::Space;

use crate::coalesce;
use crate::counters::AccessKind;
use crate::hopper::tensor_map::Piece;
use crate::lanes::WideRow;
use crate::machine::access;
use crate::machine::state::{At, Split, Warp, Worker, places};
use crate::memory::Access;
use crate::model::{AccessOrigin, CacheWish, Multiprocessor};
use crate::program::{Atomic, Load, Reach, Store};
use crate::texture::Touched;

/// In the chip's memory, local memory is below all allocations.
const LOCAL_BASE: u64 = 1 << 40;

/// An access, as the multiprocessor needs it.
struct Request<'a> {
    reach: &'a Reach,
    kind: AccessKind,
    width: u32,
    wish: CacheWish,
    counter: u32,
}

/// A load is about to be made.
#[inline(always)]
pub(super) fn load(worker: &mut Worker, warp: &Warp, load: &Load, at: At) {
    let At { split, mask, counter } = at;
    if worker.modelled.is_some() {
        let width = load.element * load.count;
        let request = Request { reach: &load.reach, kind: AccessKind::Load, width, wish: load.wish, counter };
        pass(worker, warp, split, mask, &request);
    }
}

/// A store is about to be made.
#[inline(always)]
pub(super) fn store(worker: &mut Worker, warp: &Warp, store: &Store, at: At) {
    let At { split, mask, counter } = at;
    if worker.modelled.is_some() {
        let width = store.element * store.count;
        let request = Request { reach: &store.reach, kind: AccessKind::Store, width, wish: CacheWish::None, counter };
        pass(worker, warp, split, mask, &request);
    }
}

/// An atomic operation is about to be made.
#[inline(always)]
pub(super) fn atomic(worker: &mut Worker, warp: &Warp, atomic: &Atomic, at: At) {
    let At { split, mask, counter } = at;
    if worker.modelled.is_some() {
        let returns = atomic.elements().any(|(d, _)| d.is_some());
        let kind = if returns { AccessKind::Atomic } else { AccessKind::Reduction };
        let width = atomic.width();
        let request = Request { reach: &atomic.reach, kind, width, wish: CacheWish::Past, counter };
        pass(worker, warp, split, mask, &request);
    }
}

/// Any other access is about to be made, at known addresses.
pub(super) fn touch(
    worker: &mut Worker,
    warp: &Warp,
    reach: &Reach,
    (kind, width, wish): (AccessKind, u32, CacheWish),
    mask: u32,
    addresses: &WideRow,
    counter: u32,
) {
    if worker.modelled.is_some() && mask != 0 {
        pass_at(worker, warp, mask, addresses, &Request { reach, kind, width, wish, counter });
    }
}

/// Texels are about to be fetched.
pub(super) fn fetch(worker: &mut Worker, warp: &Warp, touched: &[Touched]) {
    let number = worker.block.residence.first_warp + u64::from(warp.index);
    if let Some(multiprocessor) = multiprocessor(worker).filter(|multiprocessor| multiprocessor.has_read_only_cache()) {
        multiprocessor.texture_fetch(number, touched.iter().map(|element| (element.lane, element.sector)));
    }
}

/// The copy engine reads global memory (for `receivers` blocks at once), writes it, or reduces into it.
pub(super) fn bulk(worker: &mut Worker, kind: AccessKind, pieces: &[Piece], receivers: u32) {
    if let Some(multiprocessor) = multiprocessor(worker) {
        pieces.iter().for_each(|piece| multiprocessor.bulk(kind, (piece.address, piece.bytes), receivers));
    }
}

/// Threads of the block acquire what others of their cluster have written.
pub(super) fn acquire(worker: &mut Worker) {
    if let Some(multiprocessor) = multiprocessor(worker) {
        multiprocessor.acquire();
    }
}

/// The multiprocessor of the running block.
fn multiprocessor<'w>(worker: &'w mut Worker) -> Option<&'w mut Multiprocessor> {
    worker.modelled.as_mut()?.multiprocessors.get_mut(worker.block.residence.multiprocessor)
}

/// Passes the access to the multiprocessor, for each state space that the lanes reach.
#[inline(never)]
fn pass(worker: &mut Worker, warp: &Warp, split: &Split, mask: u32, request: &Request) {
    let addresses = access::addresses(warp, request.reach, split);
    pass_at(worker, warp, mask, &addresses, request);
}

fn pass_at(worker: &mut Worker, warp: &Warp, mask: u32, addresses: &WideRow, request: &Request) {
    // No access is rejected here.
    let _ = access::by_space(request.reach.space, worker.block.rank, mask, addresses, &mut |space, mask, addresses| {
        pass_in_space(worker, warp, request, space, &Access::new(mask, addresses, request.width));
        Ok(())
    });
}

fn pass_in_space(worker: &mut Worker, warp: &Warp, request: &Request, space: Space, access: &Access) {
    let Some(modelled) = &mut worker.modelled else { return };
    let residence = worker.block.residence;
    let multiprocessor = &mut modelled.multiprocessors[residence.multiprocessor];
    let &Request { kind, wish, width, .. } = request;
    let number = residence.first_warp + u64::from(warp.index);
    match space {
        Space::Global if wish == CacheWish::ReadOnly && multiprocessor.has_read_only_cache() => {
            multiprocessor.read_only_load(number, access);
        }
        Space::Global => multiprocessor.access(kind, AccessOrigin::Global, wish, access),
        Space::Local => {
            let base = LOCAL_BASE + number * modelled.local_of_a_warp;
            for word in 0..u64::from(width.div_ceil(4)) {
                let places = places(access, word).map(|place| base.wrapping_add(place));
                let access = Access::new(access.mask, &places, width.min(4));
                multiprocessor.access(kind, AccessOrigin::Local, wish, &access);
            }
        }
        Space::Shared => {
            if let Some(found) = multiprocessor.wavefronts(kind, access) {
                let plain = match kind {
                    AccessKind::Load => coalesce::load_wavefronts(access),
                    _ => coalesce::store_wavefronts(access),
                };
                // The access itself counts the standard numbers.
                let more = &mut modelled.more_wavefronts[request.counter as usize];
                more.wavefronts += i64::from(found.wavefronts) - i64::from(plain.wavefronts);
                more.conflicts += i64::from(found.conflicts) - i64::from(plain.conflicts);
            }
        }
        Space::ClusterShared => multiprocessor.distributed(kind, access),
        _ => {}
    }
}
