//! What threads have written of their local memory, for the sanitizer: reads of the rest are told.
//!
//! A value that goes as it is from one place of local memory to another takes with it what of it was written: what counts is
//! where it is used. If it goes elsewhere, the read is told.

use ptx::Space;

use super::block::Worker;
use super::local::lanes;
use super::warp::Warp;
use crate::FindingKind;
use crate::check::{Checker, Coming};
use crate::lanes::WideRow;
use crate::trap::AccessAction;

/// A value of which not all bytes were written, and that a lane has read to store it elsewhere.
pub(super) struct Incomplete {
    lane: usize,
    /// The instructions that have read it, and that are to store it.
    read_at: u32,
    stored_at: u32,
    address: u64,
    width: u32,
    /// The bytes that were written, a bit each.
    bytes: u16,
}

/// An access of some lanes.
pub(super) fn access(checker: &mut Checker, warp: &mut Warp, coming: &Coming, mask: u32, addresses: &WideRow) {
    if coming.action != AccessAction::Read {
        return write(warp, coming, mask, addresses);
    }
    let stored_at = coming.copied.stored_at();
    if stored_at.is_some() && !warp.incomplete.is_empty() {
        // What these lanes read here before was not stored in local memory.
        let is_past = |value: &mut Incomplete| Some(value.stored_at) == stored_at && mask >> value.lane & 1 == 1;
        let past: Vec<Incomplete> = warp.incomplete.extract_if(.., is_past).collect();
        past.into_iter().for_each(|value| tell(checker, warp, &value));
    }
    for lane in lanes(mask) {
        read(checker, warp, coming, lane, addresses[lane]);
    }
}

fn read(checker: &mut Checker, warp: &mut Warp, coming: &Coming, lane: usize, address: u64) {
    let &Coming { width, element, copied, place, .. } = coming;
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
    let is_tolerable = || (0..width / element).all(|index| copied.has(index) || has(index * element, element));
    if bytes != 0 && is_tolerable() {
        warp.local.mark(1 << lane, address, width);
    } else {
        tell(checker, warp, &value);
    }
}

fn write(warp: &mut Warp, coming: &Coming, mask: u32, addresses: &WideRow) {
    for lane in lanes(mask) {
        warp.local.mark(1 << lane, addresses[lane], coming.width);
    }
    if warp.incomplete.is_empty() {
        return;
    }
    let is_stored = |value: &mut Incomplete| value.stored_at == coming.place && mask >> value.lane & 1 == 1;
    let stored: Vec<Incomplete> = warp.incomplete.extract_if(.., is_stored).collect();
    for Incomplete { lane, bytes, .. } in stored {
        let missing = (0..coming.width).filter(|byte| bytes >> byte & 1 == 0);
        missing.for_each(|byte| warp.local.forget(lane, addresses[lane] + u64::from(byte)));
    }
}

/// Tells of a read of what was not written. Once is enough.
fn tell(checker: &mut Checker, warp: &mut Warp, value: &Incomplete) {
    let &Incomplete { lane, read_at, address, width, bytes, .. } = value;
    // A copy of padding to other memory is none of its uses.
    if bytes == 0 || value.stored_at == u32::MAX {
        let kind = FindingKind::Unwritten { space: Space::Local, address, width, allocation: None };
        checker.tell(kind, read_at, warp.index, lane as u32, Some(AccessAction::Read));
    }
    warp.local.mark(1 << lane, address, width);
}

/// A block has ended: what its threads have not stored in local memory by now was stored elsewhere.
pub(super) fn settle(worker: &mut Worker, warp: &mut Warp) {
    let Some(checker) = &mut worker.checker else { return };
    for value in std::mem::take(&mut warp.incomplete) {
        tell(checker, warp, &value);
    }
}

/// Lanes have spilled values to local memory.
pub(super) fn spill(worker: &Worker, warp: &mut Warp, mask: u32, address: u64, bytes: u32) {
    if worker.checker.as_ref().is_some_and(|checker| checker.checks().init) {
        warp.local.mark(mask, address, bytes);
    }
}
