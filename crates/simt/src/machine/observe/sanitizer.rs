//! Reports each access of a warp to the sanitizer before it is made. What comes back is the lanes
//! whose access is possible, and only those may then access memory. Reads registers and memory, for
//! the values that are about to change; changes only the sanitizer's state and the memo of shapes.

use ptx::Space;

use crate::address::{AccessFaultKind, AllocationSpan};
use crate::coalesce::Shape;
use crate::lanes::{Registers, WideRow};
use crate::machine::access::{Shaped, addresses, by_space, check_parameter, keep_shape};
use crate::machine::observe::observed::{Observed, Stored};
use crate::machine::state::{At, Block, Warp, Worker};
use crate::machine::written;
use crate::memory::{Memory, SharedMemory};
use crate::program::{AddressOperand, MemoryOperation};
use crate::sanitizer::{Checker, Touch};
use crate::site::AccessAction;

/// Reports an access. Returns the lanes whose access is possible.
pub(in crate::machine) fn access(worker: &mut Worker, warp: &mut Warp, access: &Observed, mask: u32) -> u32 {
    if worker.checker.is_none() || mask == 0 {
        return mask;
    }
    let &Observed { operation, space, addresses, slot, stored } = access;
    let rank = worker.block.rank;
    if let Some(slot) = slot {
        let memory = worker.launched.memory;
        let mut found = keep_shape(&mut worker.shapes, (space, slot), (mask, addresses), (operation.width, rank));
        if fast(&mut worker.checker, &worker.block, memory, warp, (operation, stored), &mut found) {
            return mask;
        }
    }
    let mut possible = 0;
    // No access is rejected here.
    let _ = by_space(space, rank, mask, addresses, &mut |space, mask, addresses| {
        possible |= report(worker, warp, (operation, stored), space, mask, addresses);
        Ok(())
    });
    possible
}

/// Reports an access by its operand, where nobody else needs its addresses. Returns the lanes whose
/// access is possible.
pub(in crate::machine) fn by_operand(
    worker: &mut Worker,
    warp: &mut Warp,
    reach: &AddressOperand,
    (operation, stored): (&MemoryOperation, Stored),
    at: At,
) -> u32 {
    if worker.checker.is_none() {
        return at.mask;
    }
    let addresses = addresses(warp, reach, at.split);
    let (space, slot) = (reach.space, Some(reach.slot));
    access(worker, warp, &Observed { operation, space, addresses: &addresses, slot, stored }, at.mask)
}

/// Reports an access whose lanes all reach one allocation or the block's shared memory. Returns
/// whether it is such an access and possible in all lanes; if not, call [`access`].
#[inline(always)]
pub(in crate::machine) fn fast(
    checker: &mut Option<Box<Checker<'_>>>,
    block: &Block,
    memory: &Memory,
    warp: &Warp,
    (operation, stored): (&MemoryOperation, Stored),
    found: &mut Option<Shaped>,
) -> bool {
    let Some(checker) = checker else { return true };
    let Some(Shaped { shape, space, lowest }) = found else { return false };
    let (space, lowest) = (*space, *lowest);
    let (new, old) = values(&warp.registers, memory, &block.shared, (operation, stored), space);
    checker.access(&Touch { operation, space, warp: warp.index, new: &new, old: &old }, shape, lowest)
}

/// Reports an access in one state space.
#[inline(never)]
fn report(
    worker: &mut Worker,
    warp: &mut Warp,
    (operation, stored): (&MemoryOperation, Stored),
    space: Space,
    mask: u32,
    addresses: &WideRow,
) -> u32 {
    let Some(mut checker) = worker.checker.take() else { return mask };
    let (action, width) = (operation.action, operation.width);
    let (memory, shared, parameters) =
        (worker.launched.memory, &worker.block.shared, worker.launched.parameters.len() as u64);
    let refuse = |address: u64| match space {
        Space::Shared => shared.check(address, width).err(),
        Space::ClusterShared => worker.shared_at(address).and_then(|shared| shared.check(address, width)).err(),
        Space::Local | Space::Parameter if action == AccessAction::Atomic => Some(AccessFaultKind::NOT_ATOMIC),
        Space::Local => warp.local.refuses(address, width),
        _ if action != AccessAction::Read => {
            Some(AccessFaultKind::ReadOnly { allocation: AllocationSpan { address: 0, bytes: parameters } })
        }
        _ => check_parameter(address, width, parameters),
    };
    let possible = {
        let (new, old) = values(&warp.registers, memory, shared, (operation, stored), space);
        let touch = Touch { operation, space, warp: warp.index, new: &new, old: &old };
        let in_one_memory = match space {
            Space::Shared | Space::Global | Space::Constant => true,
            Space::ClusterShared => refuse(addresses[mask.trailing_zeros() as usize & 31]).is_none(),
            _ => false,
        };
        let mut shape = Shape::new();
        let done = in_one_memory && {
            let lowest = shape.follow(mask, addresses, width);
            checker.access(&touch, &mut shape, lowest)
        };
        if done { mask } else { checker.access_per_lane(&touch, mask, addresses, &refuse) }
    };
    if space == Space::Local && checker.checks().init {
        written::access(&mut checker, warp, operation, possible, addresses);
    }
    worker.checker = Some(checker);
    possible
}

/// What a lane is about to store, and what is in memory at an address.
#[inline(always)]
fn values<'a>(
    registers: &'a Registers<'_>,
    memory: &'a Memory,
    shared: &'a SharedMemory,
    (operation, stored): (&'a MemoryOperation, Stored<'a>),
    space: Space,
) -> (impl Fn(usize) -> u128 + 'a, impl Fn(u64) -> u128 + 'a) {
    let width = operation.width;
    let old = move |address: u64| match space {
        Space::Shared => shared.value(address, width),
        _ => memory.value(address, width),
    };
    (move |lane: usize| value_of(registers, operation, stored, lane), old)
}

/// What a lane is about to store.
fn value_of(registers: &Registers<'_>, operation: &MemoryOperation, stored: Stored, lane: usize) -> u128 {
    let rows = match stored {
        Stored::Unknown => return 0,
        Stored::Words(words) => {
            let value = words.iter().rev().fold(0, |value, row| value << 32 | u128::from(row[lane]));
            return value & u128::MAX >> (128 - 8 * operation.width.clamp(1, 16));
        }
        Stored::Registers(rows) => rows,
    };
    let bits = operation.element * 8;
    rows.iter().rev().fold(0, |value, &row| match operation.element {
        8 => value.unbounded_shl(bits) | u128::from(registers.wide(row)[lane]),
        _ => value.unbounded_shl(bits) | u128::from(registers.word(row)[lane] & (u32::MAX >> (32 - bits))),
    })
}
