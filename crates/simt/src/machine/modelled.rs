//! Passes accesses to the model of a GPU, if the launch has one; without a model, that is one
//! branch. An access is passed on after the sanitizer has seen it, so that lanes which it refuses
//! leave no trace in the model, and before it is made. Only the model's caches and counters change.

use ptx::Space;

use crate::address::Access;
use crate::coalesce::{self, Wavefronts};
use crate::instruction::AccessKind;
use crate::lanes::WideRow;
use crate::machine::state::{At, Modelled, Residence, RunningBlock, Warp, Worker};
use crate::machine::{access, counted, traced};
use crate::model::{AccessOrigin, CacheHint, Multiprocessor};
use crate::program::{AddressOperand, Atomic, CountedAs, Load, Store};
use crate::tensor_map::Piece;
use crate::texture::Touched;

/// In the chip's memory, local memory is below all allocations.
const LOCAL_BASE: u64 = 1 << 40;

/// An access, as the multiprocessor needs it.
pub(super) struct Request<'a> {
    pub reach: &'a AddressOperand,
    pub kind: AccessKind,
    pub width: u32,
    pub hint: CacheHint,
}

/// A load is about to be made by these lanes. The rest of the worker is borrowed by then.
#[inline(always)]
pub(super) fn load(modelled: &mut Option<Box<Modelled>>, block: &RunningBlock, warp: &Warp, load: &Load, at: At) {
    if let Some(modelled) = modelled {
        let own = counted::own(&load.reach, load.element * load.count);
        for CountedAs { reach, width } in counted::requests(load.counted.as_deref(), &own) {
            let (kind, width) = (AccessKind::Load, *width);
            pass(modelled, block, warp, at, &Request { reach, kind, width, hint: load.hint });
        }
    }
}

/// A store is about to be made by these lanes.
#[inline(always)]
pub(super) fn store(modelled: &mut Option<Box<Modelled>>, block: &RunningBlock, warp: &Warp, store: &Store, at: At) {
    if let Some(modelled) = modelled {
        let own = counted::own(&store.reach, store.element * store.count);
        for CountedAs { reach, width } in counted::requests(store.counted.as_deref(), &own) {
            let (kind, width) = (AccessKind::Store, *width);
            pass(modelled, block, warp, at, &Request { reach, kind, width, hint: CacheHint::None });
        }
    }
}

/// An atomic operation is about to be made by these lanes.
#[inline(always)]
pub(super) fn atomic(modelled: &mut Option<Box<Modelled>>, block: &RunningBlock, warp: &Warp, atomic: &Atomic, at: At) {
    if let Some(modelled) = modelled {
        let kind = if atomic.combined.is_reduction { AccessKind::Reduction } else { AccessKind::Atomic };
        let width = atomic.width();
        let at = at.with_mask(counted::lanes_of(atomic.combined.one_lane, at.mask));
        pass(modelled, block, warp, at, &Request { reach: &atomic.reach, kind, width, hint: CacheHint::Bypass });
    }
}

/// Any other access is about to be made, at known addresses.
pub(super) fn touch(worker: &mut Worker, warp: &Warp, request: &Request, mask: u32, addresses: &WideRow, counter: u32) {
    if let (Some(modelled), 1..) = (&mut worker.modelled, mask) {
        pass_at(modelled, &worker.block, warp, mask, addresses, counter, request);
    }
}

/// Texels are about to be fetched.
pub(super) fn fetch(worker: &mut Worker, warp: &Warp, touched: &[Touched], place: u32) {
    let multiprocessor_index = worker.block.residence.multiprocessor;
    if let Some(modelled) = &mut worker.modelled
        && traced::before(modelled, multiprocessor_index, place).is_some()
    {
        let sectors = touched.iter().map(|element| element.sector).collect();
        traced::texture(modelled, sectors, place);
    }
    let number = worker.block.residence.first_warp + u64::from(warp.index);
    if let Some(multiprocessor) = multiprocessor(worker).filter(|multiprocessor| multiprocessor.has_read_only_cache()) {
        multiprocessor.texture_fetch(number, touched.iter().map(|element| (element.lane, element.sector)));
    }
}

/// The copy engine reads global memory (for `receivers` blocks at once), writes it, or reduces into
/// it.
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
fn pass(modelled: &mut Modelled, block: &RunningBlock, warp: &Warp, at: At, request: &Request) {
    let addresses = access::addresses(warp, request.reach, at.split);
    pass_at(modelled, block, warp, at.mask, &addresses, at.counter, request);
}

fn pass_at(
    modelled: &mut Modelled,
    block: &RunningBlock,
    warp: &Warp,
    mask: u32,
    addresses: &WideRow,
    counter: u32,
    request: &Request,
) {
    // No access is rejected here.
    let _ = access::by_space(request.reach.space, block.rank, mask, addresses, &mut |space, mask, addresses| {
        let access = Access::new(mask, addresses, request.width);
        pass_in_space(modelled, block.residence, warp, request, space, &access, counter);
        Ok(())
    });
}

fn pass_in_space(
    modelled: &mut Modelled,
    residence: Residence,
    warp: &Warp,
    request: &Request,
    space: Space,
    access: &Access,
    counter: u32,
) {
    let before = traced::before(modelled, residence.multiprocessor, counter);
    let multiprocessor = &mut modelled.multiprocessors[residence.multiprocessor];
    let &Request { kind, hint, width, .. } = request;
    let number = residence.first_warp + u64::from(warp.index);
    match space {
        Space::Global if hint == CacheHint::ReadOnly && multiprocessor.has_read_only_cache() => {
            multiprocessor.read_only_load(number, access);
        }
        Space::Global => multiprocessor.access(kind, AccessOrigin::Global, hint, access),
        Space::Local => {
            let base = LOCAL_BASE + number * modelled.local_bytes_per_warp;
            for word in 0..u64::from(width.div_ceil(4)) {
                let addresses = access.backing_addresses(word).map(|address| base.wrapping_add(address));
                let access = Access::new(access.mask, &addresses, width.min(4));
                multiprocessor.access(kind, AccessOrigin::Local, hint, &access);
            }
        }
        Space::Shared => {
            if let Some(found) = multiprocessor.wavefronts(kind, access) {
                let plain = plain_wavefronts(kind, access);
                // The access itself counts the standard numbers.
                let more = &mut modelled.wavefront_deltas[counter as usize];
                more.wavefronts += i64::from(found.wavefronts) - i64::from(plain.wavefronts);
                more.conflicts += i64::from(found.conflicts) - i64::from(plain.conflicts);
            }
        }
        Space::ClusterShared => multiprocessor.distributed(kind, access),
        _ => {}
    }
    let Some(before) = before else { return };
    match space {
        Space::Global | Space::Local => traced::memory(modelled, before, kind, access, counter),
        Space::Shared => {
            let model = modelled.multiprocessors[0].wavefronts(kind, access);
            traced::shared(
                modelled,
                kind,
                access,
                model.unwrap_or_else(|| plain_wavefronts(kind, access)).wavefronts,
                counter,
            );
        }
        Space::Constant => traced::constant(modelled, access, counter),
        _ => {}
    }
}

/// The passes over the banks that every launch counts.
fn plain_wavefronts(kind: AccessKind, access: &Access) -> Wavefronts {
    match kind {
        AccessKind::Load => coalesce::load_wavefronts(access),
        _ => coalesce::store_wavefronts(access),
    }
}
