//! Passes requests to the model of a GPU, if the launch has one. A request is passed on after the
//! sanitizer has seen its access, so that lanes which it refuses leave no trace in the model, and
//! before the access is made. Only the model's caches and counters change.

use ptx::Space;

use crate::address::Access;
use crate::instruction::AccessKind;
use crate::machine::observe::{counters, trace};
use crate::machine::state::{BlockLocation, Warp, Worker};
use crate::model::{AccessOrigin, CacheHint, Multiprocessor, priority_of};
use crate::program::{Eviction, MemoryOperation};
use crate::tensor_map::Piece;
use crate::texture::Touched;

/// In the chip's memory, local memory is below all allocations.
const LOCAL_BASE: u64 = 1 << 40;

/// A request is about to be made, in one state space.
pub(in crate::machine) fn request(
    worker: &mut Worker,
    warp: &Warp,
    operation: &MemoryOperation,
    space: Space,
    access: &Access,
) {
    let BlockLocation { multiprocessor: index, first_warp } = worker.block.location;
    let Some(modelled) = &mut worker.modelled else { return };
    let &MemoryOperation { kind, hint, eviction, place, .. } = operation;
    let before = trace::before(modelled, index, place);
    let multiprocessor = &mut modelled.multiprocessors[index];
    multiprocessor.priority = match eviction {
        Eviction::Priority(priority) => priority,
        // PTX leaves open what happens if the lanes differ.
        Eviction::Policy(row) => priority_of(warp.registers.wide(row)[access.mask.trailing_zeros() as usize % 32]),
    };
    let number = first_warp + u64::from(warp.index);
    match space {
        Space::Global if hint == CacheHint::ReadOnly && multiprocessor.has_read_only_cache() => {
            multiprocessor.read_only_load(number, access);
        }
        Space::Global => multiprocessor.access(kind, AccessOrigin::Global, hint, access),
        Space::Local => {
            let base = LOCAL_BASE + number * modelled.local_bytes_per_warp;
            for word in 0..u64::from(access.width.div_ceil(4)) {
                let addresses = access.backing_addresses(word).map(|address| base.wrapping_add(address));
                let access = Access::new(access.mask, &addresses, access.width.min(4));
                multiprocessor.access(kind, AccessOrigin::Local, hint, &access);
            }
        }
        Space::ClusterShared => multiprocessor.distributed(kind, access),
        _ => {}
    }
    let Some(before) = before else { return };
    match space {
        Space::Global | Space::Local => trace::memory(modelled, before, kind, access, place),
        Space::Shared => {
            let wavefronts = counters::wavefronts(modelled.banks, kind, access).wavefronts;
            trace::shared(modelled, kind, access, wavefronts, place);
        }
        Space::Constant => trace::constant(modelled, access, place),
        _ => {}
    }
}

/// Texels are about to be fetched.
pub(in crate::machine) fn fetch(worker: &mut Worker, warp: &Warp, touched: &[Touched], place: u32) {
    let multiprocessor_index = worker.block.location.multiprocessor;
    if let Some(modelled) = &mut worker.modelled
        && trace::before(modelled, multiprocessor_index, place).is_some()
    {
        let sectors = touched.iter().map(|element| element.sector).collect();
        trace::texture(modelled, sectors, place);
    }
    let number = worker.block.location.first_warp + u64::from(warp.index);
    if let Some(multiprocessor) = multiprocessor(worker).filter(|multiprocessor| multiprocessor.has_read_only_cache()) {
        multiprocessor.texture_fetch(number, touched.iter().map(|element| (element.lane, element.sector)));
    }
}

/// The copy engine reads global memory (for `receivers` blocks at once), writes it, or reduces into
/// it.
pub(in crate::machine) fn bulk(worker: &mut Worker, kind: AccessKind, pieces: &[Piece], receivers: u32) {
    if let Some(multiprocessor) = multiprocessor(worker) {
        pieces.iter().for_each(|piece| multiprocessor.bulk(kind, (piece.address, piece.bytes), receivers));
    }
}

/// Threads of the block acquire what others of their cluster have written.
pub(in crate::machine) fn acquire(worker: &mut Worker) {
    if let Some(multiprocessor) = multiprocessor(worker) {
        multiprocessor.acquire();
    }
}

/// The multiprocessor of the running block.
fn multiprocessor<'w>(worker: &'w mut Worker) -> Option<&'w mut Multiprocessor> {
    worker.modelled.as_mut()?.multiprocessors.get_mut(worker.block.location.multiprocessor)
}
