//! `malloc` and `free`, called by kernels through `system`.

use crate::machine::state::{Attempt, Refused, Warp, Worker};
use crate::memory::Caller;
use crate::sanitizer::FindingKind;
use crate::trap::TrapKind;

/// `malloc`: an address, or null.
pub(super) fn allocate(worker: &mut Worker, warp: &Warp, lane: u32, bytes: u64, place: u32) -> u64 {
    let caller = Caller { place, block: worker.block.number, thread: warp.index * 32 + lane };
    let Some(address) = worker.launched.memory.heap_allocate(bytes, caller) else { return 0 };
    if let Some(checker) = &mut worker.checker {
        checker.allocated(address, bytes);
    }
    address
}

/// `free`. Does nothing for null.
pub(super) fn free(worker: &mut Worker, warp: &Warp, lane: u32, address: u64, place: u32) -> Attempt {
    if address == 0 {
        return Ok(());
    }
    if let Some(checker) = &mut worker.checker {
        checker.freeing(address, place, warp.index, lane);
    }
    let Err(fault) = worker.launched.memory.heap_free(address) else { return Ok(()) };
    match &mut worker.checker {
        Some(checker) if checker.checks().memory => {
            checker.report(FindingKind::Free { address, fault }, place, warp.index, lane, None);
            Ok(())
        }
        _ => Err(Refused::because(TrapKind::Free { address, fault }, lane)),
    }
}
