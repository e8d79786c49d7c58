//! Tracks which local memory threads have written, for the sanitizer: uses of the rest are
//! reported.
//!
//! If a value is moved unchanged from one place in local memory to another, the copy counts as
//! written where the original did, byte by byte. If a word is read, has some bits replaced and is
//! stored back, its other bits are not used: unoptimised code fills bit fields that way.
//!
//! Loading uninitialised memory is not yet a fault: compilers load early and drop values later
//! (`selp`), and pass structs that are only partly set. The destination registers then count as
//! unwritten, and so does what is computed from them (see `inspect`). If such a value is a
//! condition or leaves the thread, the load is reported. If it is stored to local memory, that
//! place counts as unwritten again, and the same load is blamed.

use ptx::Space;

use crate::lanes::{WideRow, lanes};
use crate::machine::state::{Incomplete, LoadedBy, Storing, UnwrittenLoad, Warp, Worker};
use crate::program::MemoryOperation;
use crate::sanitizer::{Checker, FindingKind};
use crate::site::AccessAction;

/// Lanes use an undefined value that they have got by this load or shuffle or, for some lanes,
/// another one. Reports each lane's once.
pub(super) fn matters(checker: &mut Checker, warp: &mut Warp, load: u32, mask: u32) {
    let list = &mut warp.unwritten.list;
    for lane in lanes(mask) {
        let has = |load: &UnwrittenLoad| load.lanes >> lane & 1 == 1;
        let others = || list.iter().position(|load| has(load) && load.reported >> lane & 1 == 0);
        let index = list.get(load as usize).filter(|load| has(load)).map(|_| load as usize).or_else(others);
        // A lane that has got the value by a shuffle since: the lane that it came from is blamed.
        let Some(load) = list.get_mut(index.unwrap_or(load as usize)) else { continue };
        let lane = if index.is_some() { lane } else { load.lanes.trailing_zeros() as usize & 31 };
        if load.reported >> lane & 1 == 0 {
            load.reported |= 1 << lane;
            let address = load.addresses[lane];
            let Some(width) = load.width else {
                let kind = FindingKind::InactiveSource { lane: lane as u32, source: address as u32 };
                checker.report(kind, load.place, warp.index, lane as u32, None);
                continue;
            };
            let kind = FindingKind::Unwritten { space: Space::Local, address, width, allocation: None };
            checker.report(kind, load.place, warp.index, lane as u32, Some(AccessAction::Read));
            warp.local.mark(1 << lane, address, width);
        }
    }
}

/// An access of some lanes.
pub(super) fn access(
    checker: &mut Checker,
    warp: &mut Warp,
    operation: &MemoryOperation,
    mask: u32,
    addresses: &WideRow,
) {
    if operation.action != AccessAction::Read {
        return write(warp, operation, mask, addresses);
    }
    let stored_at = operation.copied.stored_at();
    if stored_at.is_some() && !warp.incomplete.is_empty() {
        // What these lanes read here before was not stored to local memory.
        let is_past = |value: &mut Incomplete| Some(value.stored_at) == stored_at && mask >> value.lane & 1 == 1;
        let past: Vec<Incomplete> = warp.incomplete.extract_if(.., is_past).collect();
        past.into_iter().for_each(|value| report(checker, warp, &value));
    }
    for lane in lanes(mask) {
        read(checker, warp, operation, lane, addresses[lane]);
    }
}

fn read(checker: &mut Checker, warp: &mut Warp, operation: &MemoryOperation, lane: usize, address: u64) {
    let &MemoryOperation { width, element, copied, place, .. } = operation;
    let has = |from: u32, bytes: u32| warp.local.has(lane, address + u64::from(from), bytes);
    if has(0, width) || copied.is_in_place() {
        return;
    }
    let bytes = (0..width).filter(|&at| has(at, 1)).fold(0, |bytes, at| bytes | 1 << at);
    let value =
        Incomplete { lane, read_at: place, stored_at: copied.stored_at().unwrap_or(u32::MAX), address, width, bytes };
    if copied.stored_at().is_some() {
        return warp.incomplete.push(value);
    }
    // If a value is only moved, parts of it may be padding.
    let matters = |index: u32| !(has(index * element, element) || bytes != 0 && copied.has(index));
    let elements =
        (0..width / element).filter(|&index| matters(index)).fold(0, |elements, index| elements | 1 << index);
    if elements == 0 {
        warp.local.mark(1 << lane, address, width);
    } else if copied.is_followed() {
        warp.unwritten.current.push(LoadedBy { lane, address, element, elements });
    } else {
        report(checker, warp, &value);
    }
}

fn write(warp: &mut Warp, operation: &MemoryOperation, mask: u32, addresses: &WideRow) {
    for lane in lanes(mask) {
        warp.local.mark(1 << lane, addresses[lane], operation.width);
    }
    if let Some(storing) = warp.unwritten.storing.take_if(|storing| storing.place == operation.place) {
        store_unwritten(warp, operation, mask, addresses, &storing);
    }
    if warp.incomplete.is_empty() {
        return;
    }
    let is_stored = |value: &mut Incomplete| value.stored_at == operation.place && mask >> value.lane & 1 == 1;
    let stored: Vec<Incomplete> = warp.incomplete.extract_if(.., is_stored).collect();
    for Incomplete { lane, bytes, .. } in stored {
        let missing = (0..operation.width).filter(|byte| bytes >> byte & 1 == 0);
        missing.for_each(|byte| warp.local.forget(lane, addresses[lane] + u64::from(byte)));
    }
}

/// Lanes store unwritten values to local memory.
#[cold]
fn store_unwritten(warp: &mut Warp, operation: &MemoryOperation, mask: u32, addresses: &WideRow, storing: &Storing) {
    for (index, &(unwritten, load)) in (0..).zip(&storing.elements) {
        for lane in lanes(mask & unwritten) {
            let address = addresses[lane] + index * u64::from(operation.element);
            warp.unwritten.stored.insert((lane, address), load);
            (0..u64::from(operation.element)).for_each(|byte| warp.local.forget(lane, address + byte));
        }
    }
}

/// Reports a read of uninitialised memory, once.
fn report(checker: &mut Checker, warp: &mut Warp, value: &Incomplete) {
    let &Incomplete { lane, read_at, address, width, bytes, .. } = value;
    // Copying padding to other memory is not a use.
    if bytes == 0 || value.stored_at == u32::MAX {
        let kind = FindingKind::Unwritten { space: Space::Local, address, width, allocation: None };
        checker.report(kind, read_at, warp.index, lane as u32, Some(AccessAction::Read));
    }
    warp.local.mark(1 << lane, address, width);
}

/// A block has ended: values that its threads have not stored to local memory by now were stored
/// elsewhere.
pub(super) fn settle(worker: &mut Worker, warp: &mut Warp) {
    let Some(checker) = &mut worker.checker else { return };
    for value in std::mem::take(&mut warp.incomplete) {
        report(checker, warp, &value);
    }
}

/// A lane has printed uninitialised local memory, at these addresses with these sizes.
pub(super) fn printed(worker: &mut Worker, warp: &mut Warp, lane: usize, pieces: &[(u64, u32)], place: u32) {
    let Some(checker) = &mut worker.checker else { return };
    for &(address, width) in pieces {
        match warp.unwritten.stored.get(&(lane, address)) {
            Some(&load) => matters(checker, warp, load, 1 << lane),
            None if !warp.local.has(lane, address, width) => {
                let kind = FindingKind::Unwritten { space: Space::Local, address, width, allocation: None };
                checker.report(kind, place, warp.index, lane as u32, Some(AccessAction::Read));
            }
            None => {}
        }
        warp.local.mark(1 << lane, address, width);
    }
}

/// Lanes have spilled values to local memory.
pub(super) fn spill(worker: &Worker, warp: &mut Warp, mask: u32, address: u64, bytes: u32) {
    if worker.checker.as_ref().is_some_and(|checker| checker.checks().init) {
        warp.local.mark(mask, address, bytes);
    }
}
