//! What loads, stores and atomic operations of a warp have in common: the addresses of the lanes,
//! and their state spaces.

use ptx::Space;

use crate::address::{Access, AccessFault, AccessFaultKind, rank_of, space_of};
use crate::coalesce::Shape;
use crate::lanes::{Registers, WideRow, mask_where};
use crate::machine::state::{Attempt, Split, Warp, Worker};
use crate::memory::SharedMemory;
use crate::program;
use crate::program::AddressOperand;

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

/// An access in one state space, of one block.
pub(super) struct Shaped<'s> {
    pub shape: &'s mut Shape,
    pub space: Space,
    /// Its lowest address there.
    pub lowest: u64,
}

/// The shape of an access. `None` for local memory and parameters, and if the lanes are in several
/// state spaces, or in another block's memory. `rank` is the rank of the lanes' own block.
#[inline(always)]
pub(super) fn follow_shape<'s>(
    shapes: &'s mut [Option<Box<Shape>>],
    registers: &Registers<'_>,
    reach: &AddressOperand,
    mask: u32,
    (width, rank): (u32, u32),
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
    in_one_space(shape, reach.space, lowest, rank)
}

/// [`follow_shape`] for an instruction whose addresses have been computed.
pub(super) fn keep_shape<'s>(
    shapes: &'s mut [Option<Box<Shape>>],
    (space, slot): (Space, u32),
    (mask, addresses): (u32, &WideRow),
    (width, rank): (u32, u32),
) -> Option<Shaped<'s>> {
    if matches!(space, Space::Local | Space::Parameter) {
        return None;
    }
    let shape = shapes[slot as usize].get_or_insert_with(|| Box::new(Shape::new()));
    let lowest = shape.follow(mask, addresses, width);
    in_one_space(shape, space, lowest, rank)
}

#[inline(always)]
fn in_one_space(shape: &mut Shape, space: Space, lowest: u64, rank: u32) -> Option<Shaped<'_>> {
    if !matches!(space, Space::Generic | Space::ClusterShared) {
        return Some(Shaped { shape, space, lowest });
    }
    let (there, in_space) = resolve(space, lowest, rank);
    let (last, in_last) = resolve(space, lowest.wrapping_add(shape.span()), rank);
    let is_one = there == last && in_last.wrapping_sub(in_space) == shape.span();
    let is_own = !matches!(there, Space::Local | Space::Parameter | Space::ClusterShared);
    (is_one && is_own).then_some(Shaped { shape, space: there, lowest: in_space })
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

/// The shared memory of the other block of the cluster that all lanes access.
pub(super) fn distributed_shared<'w>(worker: &'w Worker, access: &Access) -> Result<&'w SharedMemory, AccessFault> {
    let lane = access.mask.trailing_zeros() & 31;
    let address = access.addresses[lane as usize];
    worker.shared_at(address).map_err(|kind| AccessFault { lane, address, kind })
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
