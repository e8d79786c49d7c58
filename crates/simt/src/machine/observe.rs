//! Who watches accesses: the one place where they are told of them, before they are made.
//!
//! Nobody watches unless a launch asks for it; then there is one branch here for each access, and nothing else.

use ptx::Space;

use super::block::Worker;
use super::warp::{Split, Warp};
use super::{access, space_of};
use crate::check::Touch;
use crate::lanes::WideRow;
use crate::memory::{Access, AccessFaultKind, AllocationSpan};
use crate::program::{self, Atomic, Load, Reach, Store};
use crate::trap::AccessAction;

/// An access of a warp that is about to be made.
struct Coming<'a> {
    reach: &'a Reach,
    action: AccessAction,
    width: u32,
    counter: u32,
}

/// A load. Returns the lanes that can make it; the others have got zeros.
#[inline(always)]
pub(super) fn load(worker: &mut Worker, warp: &mut Warp, load: &Load, split: &Split, mask: u32, counter: u32) -> u32 {
    if worker.checker.is_none() {
        return mask;
    }
    let width = load.element * load.count;
    let possible =
        watch(worker, warp, split, mask, &Coming { reach: &load.reach, action: AccessAction::Read, width, counter });
    let refused = mask & !possible;
    if refused != 0 {
        for &d in &load.rows[..load.count as usize & 7] {
            match load.wide {
                true => warp.registers.set_wide(d, refused, &[0; 32]),
                false => warp.registers.set_word(d, refused, &[0; 32]),
            }
        }
    }
    possible
}

/// A store. Returns the lanes that can make it.
#[inline(always)]
pub(super) fn store(
    worker: &mut Worker,
    warp: &mut Warp,
    store: &Store,
    split: &Split,
    mask: u32,
    counter: u32,
) -> u32 {
    if worker.checker.is_none() {
        return mask;
    }
    let width = store.element * store.count;
    watch(worker, warp, split, mask, &Coming { reach: &store.reach, action: AccessAction::Write, width, counter })
}

/// An atomic operation. Returns the lanes that can make it; the others have got zeros.
#[inline(always)]
pub(super) fn atomic(
    worker: &mut Worker,
    warp: &mut Warp,
    atomic: &Atomic,
    split: &Split,
    mask: u32,
    counter: u32,
) -> u32 {
    if worker.checker.is_none() {
        return mask;
    }
    let width = atomic.ty.bytes();
    let coming = Coming { reach: &atomic.reach, action: AccessAction::Atomic, width, counter };
    let possible = watch(worker, warp, split, mask, &coming);
    if let Some(d) = atomic.d.filter(|_| mask != possible) {
        match width {
            8.. => (0..width / 8).for_each(|row| warp.registers.set_wide(d + row, mask & !possible, &[0; 32])),
            _ => warp.registers.set_word(d, mask & !possible, &[0; 32]),
        }
    }
    possible
}

/// An access of any other instruction. Returns the lanes that can make it.
pub(super) fn touch(
    worker: &mut Worker,
    warp: &Warp,
    reach: &Reach,
    what: (AccessAction, u32),
    split: &Split,
    mask: u32,
    counter: u32,
) -> u32 {
    if worker.checker.is_none() || mask == 0 {
        return mask;
    }
    watch(worker, warp, split, mask, &Coming { reach, action: what.0, width: what.1, counter })
}

/// The same, with addresses that are known.
pub(super) fn touch_at(
    worker: &mut Worker,
    warp: &Warp,
    space: Space,
    what: (AccessAction, u32),
    mask: u32,
    addresses: &WideRow,
    counter: u32,
) -> u32 {
    if worker.checker.is_none() || mask == 0 {
        return mask;
    }
    watch_at(worker, warp, space, what, mask, addresses, counter)
}

/// Tells the sanitizer of an access, for each state space that its lanes reach.
#[inline(never)]
fn watch(worker: &mut Worker, warp: &Warp, split: &Split, mask: u32, coming: &Coming) -> u32 {
    let addresses = access::addresses(warp, coming.reach, split);
    watch_at(worker, warp, coming.reach.space, (coming.action, coming.width), mask, &addresses, coming.counter)
}

fn watch_at(
    worker: &mut Worker,
    warp: &Warp,
    space: Space,
    what: (AccessAction, u32),
    mask: u32,
    addresses: &WideRow,
    counter: u32,
) -> u32 {
    let coming = (what.0, what.1, counter);
    if space != Space::Generic {
        return tell(worker, warp, coming, space, mask, addresses);
    }
    let mut possible = 0;
    let mut rest = mask;
    while rest != 0 {
        let space = space_of(addresses[rest.trailing_zeros() as usize & 31]);
        let here = (0..32).filter(|&lane| space_of(addresses[lane]) == space).fold(0, |mask, lane| mask | 1 << lane);
        let start = program::window(space);
        possible |=
            tell(worker, warp, coming, space, here & rest, &addresses.map(|address| address.wrapping_sub(start)));
        rest &= !here;
    }
    possible
}

#[inline(always)]
fn tell(
    worker: &mut Worker,
    warp: &Warp,
    (action, width, counter): (AccessAction, u32, u32),
    space: Space,
    mask: u32,
    addresses: &WideRow,
) -> u32 {
    let (shared, parameters) = (&worker.shared, worker.launched.parameters.len() as u64);
    let refuse = |address: u64| match space {
        Space::Shared => shared.check(address, width).err(),
        Space::Local if action == AccessAction::Atomic => Some(AccessFaultKind::OutOfBounds { nearest: None }),
        Space::Local => warp.local.refuses(address, width),
        _ if action != AccessAction::Read => {
            Some(AccessFaultKind::ReadOnly { allocation: AllocationSpan { address: 0, bytes: parameters } })
        }
        _ => access::check_parameter(address, width, parameters),
    };
    let Some(checker) = &mut worker.checker else { return mask };
    let touch = Touch { space, action, access: Access::new(mask, addresses, width), place: counter, warp: warp.index };
    checker.access(&touch, &refuse)
}
