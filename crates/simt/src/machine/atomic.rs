//! Atomic operations of a warp (`atom`, `red`), on scalars and vectors.

use std::cell::Cell;

use ptx::Space;

use crate::address::{Access, AccessFault, AccessFaultKind};
use crate::lanes::{Row, WideRow, exchange, lanes};
use crate::machine::access::{addresses, by_space};
use crate::machine::observe;
use crate::machine::observe::Observed;
use crate::machine::state::{At, Attempt, Refused, Warp, Worker};
use crate::program::{Atomic, MemoryOperation};
use crate::site::AccessAction;

/// `atom` and `red`: lane by lane, in rising order.
#[expect(clippy::too_many_lines, reason = "one arm for each case")]
pub(super) fn atomic(worker: &mut Worker, warp: &mut Warp, operation: &Atomic, at: At) -> Attempt {
    let Atomic { operation: what, reach, .. } = operation;
    let addresses = addresses(warp, reach, at.split);
    let slot = Some(reach.slot);
    let access = Observed { slot, ..Observed::new(what, reach.space, &addresses) };
    let mask = observe::access(worker, warp, &access, at);
    give_zeros(warp, operation, at.mask & !mask);
    if mask == 0 {
        return Ok(());
    }
    if !operation.rest.is_empty() {
        return vector(worker, warp, operation, mask, &addresses);
    }
    let &Atomic { update, d, a, b, .. } = operation;
    let ty = update.ty;
    let width = ty.bytes();
    let wide = ty.bits() >= 64;
    let operand = |row: u32, lane: usize| {
        if wide {
            warp.registers.wide(row)[lane]
        } else {
            u64::from(warp.registers.word(row)[lane]) & (u64::MAX >> (64 - ty.bits()))
        }
    };
    // For 128-bit values only.
    let high = |row: u32, lane: usize| u128::from(warp.registers.wide(row + 1)[lane]) << 64;
    let rank = worker.block.rank;
    let changed = Cell::new(worker.changed);
    let mut old: WideRow = [0; 32];
    let mut old_high: WideRow = [0; 32];
    let mut each = |space: Space, mask: u32, addresses: &WideRow| {
        for lane in lanes(mask) {
            let (x, y) = (operand(a, lane), operand(b, lane));
            let address = addresses[lane];
            let combine = |old: u64| {
                let new = update.apply(old, x, y);
                changed.set(changed.get() | (new != old && space == Space::Global));
                new
            };
            let memory = worker.launched.memory;
            let refused = |kind| {
                let fault = AccessFault { lane: lane as u32, address, kind };
                Refused::new(AccessAction::Atomic, space, width, fault)
            };
            let (space, shared) = match space {
                Space::ClusterShared => (Space::Shared, worker.shared_at(address).map_err(refused)?),
                space => (space, &worker.block.shared),
            };
            let result = match (space, width) {
                (Space::Shared, 2) => shared.atomic16(address, |old| combine(old.into()) as u16).map(u64::from),
                (Space::Shared, 4) => shared.atomic32(address, |old| combine(old.into()) as u32).map(u64::from),
                (Space::Shared, 8) => shared.atomic64(address, combine),
                (Space::Local | Space::Parameter, _) => Err(AccessFaultKind::NOT_ATOMIC),
                (_, 2) => memory.atomic16(address, |old| combine(old.into()) as u16).map(u64::from),
                (_, 4) => memory.atomic32(address, |old| combine(old.into()) as u32).map(u64::from),
                (_, 8) => memory.atomic64(address, combine),
                (space, _) => {
                    let (x, y) = (high(a, lane) | u128::from(x), high(b, lane) | u128::from(y));
                    changed.set(true);
                    let combine = |old: u128| exchange(update.op, old, x, y);
                    let before = match space {
                        Space::Shared => shared.atomic128(address, combine),
                        _ => memory.atomic128(address, combine),
                    };
                    before.map(|before| {
                        old_high[lane] = (before >> 64) as u64;
                        before as u64
                    })
                }
            };
            old[lane] = result.map_err(refused)?;
        }
        Ok(())
    };
    by_space(reach.space, rank, mask, &addresses, &mut each)?;
    worker.changed = changed.get();
    match d {
        Some(d) if wide => {
            warp.registers.set_wide(d, mask, &old);
            if width == 16 {
                warp.registers.set_wide(d + 1, mask, &old_high);
            }
        }
        Some(d) => warp.registers.set_word(d, mask, &old.map(|value| value as u32)),
        None => {}
    }
    Ok(())
}

/// Writes zeros for lanes whose operation was refused.
fn give_zeros(warp: &mut Warp, operation: &Atomic, refused: u32) {
    if refused == 0 {
        return;
    }
    for d in operation.elements().filter_map(|(d, _)| d) {
        match operation.operation.element {
            element @ 8.. => (0..element / 8).for_each(|row| warp.registers.set_wide(d + row, refused, &[0; 32])),
            _ => warp.registers.set_word(d, refused, &[0; 32]),
        }
    }
}

/// `atom` and `red` of vectors: lane by lane in rising order, each element separately.
fn vector(worker: &mut Worker, warp: &mut Warp, operation: &Atomic, mask: u32, addresses: &WideRow) -> Attempt {
    let &Atomic { operation: MemoryOperation { width, .. }, reach, update, .. } = operation;
    worker.changed = true;
    let mut old: [Row; 8] = [[0; 32]; 8];
    by_space(reach.space, worker.block.rank, mask, addresses, &mut |space, mask, addresses| {
        let access = Access::new(mask, addresses, width);
        let memory = worker.launched.memory;
        let refused = |fault: AccessFault| Refused::new(AccessAction::Atomic, space, width, fault);
        let check = |address| match space {
            Space::Global => memory.check(address, width, true),
            // Vectors exist for global memory only.
            _ => Err(AccessFaultKind::WrongSpace { needed: "global" }),
        };
        access.check(check).map_err(refused)?;
        for lane in lanes(mask) {
            for (index, ((_, a), old)) in (0..).zip(operation.elements().zip(&mut old)) {
                let operand = warp.registers.word(a)[lane];
                let combine = |old: u32| update.apply(old.into(), operand.into(), 0) as u32;
                let address = addresses[lane] + index * u64::from(update.ty.bytes());
                let found = match update.ty.bytes() {
                    2 => memory.atomic16(address, |old| combine(old.into()) as u16).map(u32::from),
                    _ => memory.atomic32(address, combine),
                };
                old[lane] = found.map_err(|kind| refused(AccessFault { lane: lane as u32, address, kind }))?;
            }
        }
        Ok(())
    })?;
    for ((d, _), old) in operation.elements().zip(&old) {
        if let Some(d) = d {
            warp.registers.set_word(d, mask, old);
        }
    }
    Ok(())
}
