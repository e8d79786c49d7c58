//! What loads, stores and atomic operations of a warp have in common: the addresses of the lanes,
//! their state spaces, and counting.

use ptx::Space;

use crate::address::{Access, AccessFault, AccessFaultKind, rank_of, space_of};
use crate::coalesce::Shape;
use crate::coalesce::{self, SECTOR_BYTES, Sectors, Wavefronts};
use crate::counters::{InstructionCounters, MemoryCounters};
use crate::lanes::{Registers, WideRow, mask_where};
use crate::machine::state::{At, Attempt, Refused, Split, Warp, Worker};
use crate::memory::SharedMemory;
use crate::program;
use crate::program::AddressOperand;
use crate::site::AccessAction;

/// The address of each lane.
#[inline(always)]
pub(super) fn addresses(warp: &Warp, reach: &AddressOperand, split: &Split) -> WideRow {
    let mut addresses: WideRow = [0; 32];
    if reach.wide {
        let offset = if reach.frame { reach.offset.wrapping_add(warp.frame(split).local) } else { reach.offset };
        let from = warp.registers.wide(reach.address);
        for lane in 0..32 {
            addresses[lane] = from[lane].wrapping_add(offset);
        }
    } else {
        let offset = reach.offset as u32;
        let from = warp.registers.word(reach.address);
        for lane in 0..32 {
            addresses[lane] = u64::from(from[lane].wrapping_add(offset));
        }
    }
    addresses
}

/// An access in one state space.
pub(super) struct Shaped<'s> {
    pub shape: &'s mut Shape,
    pub space: Space,
    /// Its lowest address there.
    pub lowest: u64,
}

/// The shape of an access. `None` for local memory and parameters, and if generic addresses are in
/// several state spaces.
#[inline(always)]
pub(super) fn follow_shape<'s>(
    shapes: &'s mut [Option<Box<Shape>>],
    registers: &Registers<'_>,
    reach: &AddressOperand,
    mask: u32,
    width: u32,
) -> Option<Shaped<'s>> {
    if matches!(reach.space, Space::Local | Space::Parameter) {
        return None;
    }
    let shape = shapes[reach.slot as usize].get_or_insert_with(|| Box::new(Shape::new()));
    let lowest = if reach.wide {
        shape.follow(mask, registers.wide(reach.address), width).wrapping_add(reach.offset)
    } else {
        let lowest = shape.follow(mask, registers.word(reach.address), width) as u32;
        u64::from(lowest.wrapping_add(reach.offset as u32))
    };
    match reach.space {
        Space::Generic => {}
        // Usually the block's own memory. Other blocks' memory is handled lane by lane.
        Space::ClusterShared => return Some(Shaped { shape, space: Space::Shared, lowest }),
        space => return Some(Shaped { shape, space, lowest }),
    }
    let space = space_of(lowest);
    if space != space_of(lowest.wrapping_add(shape.span())) || matches!(space, Space::Local | Space::Parameter) {
        return None;
    }
    Some(Shaped { shape, space, lowest: lowest.wrapping_sub(program::window(space)) })
}

/// Resolves an address of an instruction with the state space `space`: its actual state space, and
/// the address in that. Shared memory of another block than the one of this rank is
/// `ClusterShared`.
#[inline(always)]
pub(super) fn resolve(space: Space, address: u64, rank: u32) -> (Space, u64) {
    let (space, address) = match space {
        Space::Generic => {
            let space = space_of(address);
            (space, address.wrapping_sub(program::window(space)))
        }
        space => return (if space == Space::ClusterShared { of_rank(address, rank) } else { space }, address),
    };
    (if space == Space::Shared { of_rank(address, rank) } else { space }, address)
}

/// The state space of an address of shared memory.
#[inline(always)]
fn of_rank(address: u64, rank: u32) -> Space {
    if rank_of(address) == u64::from(rank) { Space::Shared } else { Space::ClusterShared }
}

/// Calls `each` for the lanes of each state space, and of each block of the cluster: space, lanes,
/// addresses in it. `rank` is the rank of the lanes' own block.
pub(super) fn by_space(
    space: Space,
    rank: u32,
    mask: u32,
    addresses: &WideRow,
    each: &mut dyn FnMut(Space, u32, &WideRow) -> Attempt,
) -> Attempt {
    if !matches!(space, Space::Generic | Space::ClusterShared) {
        return each(space, mask, addresses);
    }
    let mut rest = mask;
    while rest != 0 {
        let first = addresses[rest.trailing_zeros() as usize & 31];
        let (there, in_space) = resolve(space, first, rank);
        let offset = first.wrapping_sub(in_space);
        let here = mask_where(rest, |lane| {
            let (other, address) = resolve(space, addresses[lane], rank);
            other == there && (there != Space::ClusterShared || rank_of(address) == rank_of(in_space))
        });
        each(there, here, &addresses.map(|address| address.wrapping_sub(offset)))?;
        rest &= !here;
    }
    Ok(())
}

/// Counts an access whose lanes are all in one state space.
pub(super) fn count(
    counters: &mut InstructionCounters,
    warp: &Warp,
    space: Space,
    action: AccessAction,
    access: &Access,
) {
    match (space, action) {
        (Space::Shared, AccessAction::Read) => count_shared(counters, coalesce::load_wavefronts(access)),
        (Space::Shared, _) => count_shared(counters, coalesce::store_wavefronts(access)),
        (Space::ClusterShared, _) => {
            counters.distributed.requests += 1;
            counters.distributed.bytes += u64::from(access.mask.count_ones() * access.width);
        }
        (Space::Local, _) => {
            count_sectors(&mut counters.local, warp.local.sectors(access));
            // Each word of a lane is elsewhere, and a request.
            counters.local.requests += u64::from(access.width.div_ceil(4).saturating_sub(1));
        }
        (Space::Constant, _) => count_constant(counters, coalesce::addresses(access)),
        (Space::Global, AccessAction::Atomic) => {
            count_sectors(&mut counters.global, coalesce::atomic_sectors(access));
        }
        (Space::Global, _) => count_sectors(&mut counters.global, coalesce::sectors(access)),
        _ => {}
    }
}

/// Counts a load or a store whose shape is known, of shared, global or constant memory.
#[inline(always)]
pub(super) fn count_shape(counters: &mut InstructionCounters, action: AccessAction, found: Shaped) {
    let Shaped { shape, space, lowest } = found;
    match (space, action) {
        (Space::Shared, AccessAction::Read) => {
            count_shared(counters, shape.wavefronts(lowest, coalesce::load_wavefronts));
        }
        (Space::Shared, _) => count_shared(counters, shape.wavefronts(lowest, coalesce::store_wavefronts)),
        (Space::Global, _) => count_sectors(&mut counters.global, shape.sectors(lowest)),
        _ => count_constant(counters, shape.addresses()),
    }
}

/// Counts a request to global or local memory.
#[inline(always)]
pub(super) fn count_sectors(counters: &mut MemoryCounters, found: Sectors) {
    counters.requests += 1;
    counters.sectors += u64::from(found.sectors);
    counters.ideal_sectors += u64::from(found.bytes.div_ceil(SECTOR_BYTES));
    counters.bytes += u64::from(found.bytes);
}

#[inline(always)]
fn count_constant(counters: &mut InstructionCounters, addresses: u32) {
    counters.constant.requests += 1;
    counters.constant.addresses += u64::from(addresses);
}

#[inline(always)]
pub(super) fn count_shared(counters: &mut InstructionCounters, found: Wavefronts) {
    counters.shared.requests += 1;
    counters.shared.wavefronts += u64::from(found.wavefronts);
    counters.shared.bank_conflicts += u64::from(found.conflicts);
}

/// An access, and the worker and warp that make it. `CHECKED`: it is reported to the
/// sanitizer, and to the recorder of requests.
pub(super) struct Work<'w, 'l, T, const CHECKED: bool> {
    pub worker: &'w mut Worker<'l>,
    pub warp: &'w mut Warp<'l>,
    pub what: &'w T,
    pub at: At<'w>,
}

/// The shared memory of the other block of the cluster that all lanes access.
pub(super) fn of_other<'w>(
    worker: &'w Worker,
    access: &Access,
    action: AccessAction,
) -> Result<&'w SharedMemory, Box<Refused>> {
    let lane = access.mask.trailing_zeros() & 31;
    let address = access.addresses[lane as usize];
    let fault = |kind| AccessFault { lane, address, kind };
    worker.shared_at(address).map_err(|kind| Refused::new(action, Space::ClusterShared, access.width, fault(kind)))
}

/// Why `width` bytes at an address of the kernel's parameters, of which there are `bytes` bytes,
/// cannot be read.
pub(super) fn check_parameter(address: u64, width: u32, bytes: u64) -> Option<AccessFaultKind> {
    if !address.is_multiple_of(u64::from(width)) {
        return Some(AccessFaultKind::Misaligned { width });
    }
    let inside = address.checked_add(u64::from(width)).is_some_and(|end| end <= bytes);
    (!inside).then_some(AccessFaultKind::OutOfBounds { nearest: None })
}
