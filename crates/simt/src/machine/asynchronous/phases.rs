//! Executes `mbarrier`: arrivals, and waits for phases. Changes mbarriers, registers and splits,
//! and completes copies that an mbarrier waits for.
//!
//! If a thread tests a phase that is not complete, the other threads of its block run first. The
//! test returns when the phase is complete, or when no other thread can proceed.

use ptx::Space;

use crate::lanes::lanes;
use crate::machine::asynchronous::bulk::transit;
use crate::machine::copy::{Waits, complete};
use crate::machine::mbarrier::{barrier_addresses, exchange, invalid, update};
use crate::machine::observe::{self, Observed, sanitizer};
use crate::machine::state::{Attempt, Fault, Refused, Split, Wait, Warp, Worker};
use crate::memory::MbarrierFault;
use crate::memory::{Mbarrier, parity_of};
use crate::program::{Action, Asynchronous, MbarrierAccess, MbarrierAction, MemoryOperation};
use crate::timing::Meets;
use crate::trap::TrapKind;

/// Whether the mbarrier may be another block's.
pub(crate) fn reaches_others(action: &MbarrierAction) -> bool {
    match action {
        MbarrierAction::Expect { .. } | MbarrierAction::Complete { .. } => true,
        MbarrierAction::Arrive { state, never_completes, .. } => state.is_none() && !never_completes,
        _ => false,
    }
}

/// What an operation does, for the order of threads.
pub(crate) fn accesses(action: &MbarrierAction) -> MbarrierAccess {
    match action {
        MbarrierAction::Initialize { .. } => MbarrierAccess::Beginning,
        MbarrierAction::Invalidate => MbarrierAccess::End,
        MbarrierAction::TestState { .. } | MbarrierAction::TestParity { .. } => MbarrierAccess::Wait,
        MbarrierAction::Expect { .. } | MbarrierAction::Complete { .. } | MbarrierAction::Arrive { .. } => {
            MbarrierAccess::Arrival
        }
    }
}

/// What an operation does, for predicted times; waits are reported when they test.
pub(crate) fn meets(action: &MbarrierAction) -> Option<Meets> {
    match action {
        MbarrierAction::Initialize { .. } => Some(Meets::Begins),
        MbarrierAction::Arrive { .. } | MbarrierAction::Complete { .. } => Some(Meets::Joins),
        _ => None,
    }
}

/// Executes one lane's operation on an mbarrier.
pub(crate) fn change_barrier(
    worker: &mut Worker,
    warp: &mut Warp,
    action: &MbarrierAction,
    address: u64,
    lane: usize,
) -> Attempt {
    let value = |row: u32| warp.registers.word(row)[lane];
    if let MbarrierAction::Arrive { .. } | MbarrierAction::Invalidate = action {
        let bits = exchange(worker, address, lane, |bits| bits)?;
        // A phase that waits only for bytes may be complete.
        if Mbarrier::from_bits(bits).is_ok_and(|barrier| barrier.pending == 0) {
            transit::arrive_at(worker, address, lane)?;
        }
    }
    match *action {
        MbarrierAction::Initialize { count } => {
            let barrier = Mbarrier::new(value(count)).map_err(|fault| invalid(address, lane, fault))?;
            exchange(worker, address, lane, |_| barrier.to_bits())?;
        }
        MbarrierAction::Invalidate => {
            update(worker, address, lane, |_| Ok(()))?;
            exchange(worker, address, lane, |_| 0)?;
        }
        MbarrierAction::Expect { bytes } => {
            let bytes = value(bytes);
            update(worker, address, lane, |barrier| barrier.expect(bytes.into()))?;
        }
        MbarrierAction::Complete { bytes } => {
            let bytes = value(bytes);
            update(worker, address, lane, |barrier| barrier.complete(bytes))?;
        }
        MbarrierAction::Arrive { state, count, expect, drops, never_completes } => {
            let (count, expect) = (value(count), expect.map(value));
            let before = update(worker, address, lane, |barrier| {
                if let Some(bytes) = expect {
                    barrier.expect(bytes.into())?;
                }
                let parity = barrier.parity;
                barrier.arrive(count, drops)?;
                if never_completes && barrier.parity != parity {
                    return Err(MbarrierFault::Completes);
                }
                Ok(())
            })?;
            if let Some(state) = state {
                warp.registers.set_wide(state, 1 << lane, &[before; 32]);
            }
        }
        MbarrierAction::TestState { .. } | MbarrierAction::TestParity { .. } => {}
    }
    Ok(())
}

/// `mbarrier.test_wait` and `try_wait` of some lanes: whether the phases are complete. If not, the
/// lanes wait, unless this is the `last` attempt. Returns whether they continue.
pub(crate) fn test<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    split: &Split,
    mask: u32,
    last: bool,
) -> Result<bool, Fault> {
    let code = worker.launched.code;
    let action = code.instructions.get(split.pc as usize).map(|instruction| &instruction.action);
    let Some(Action::Asynchronous(action)) = action else { return Ok(true) };
    let Asynchronous::Mbarrier { reach, action } = &**action else { return Ok(true) };
    warp.enter(split);
    let at = |refused: Box<Refused>| refused.at(split.pc);
    let addresses = barrier_addresses(worker, warp, reach, split, mask, false).map_err(at)?;
    let place = code.instructions[split.pc as usize].place;
    let (mut complete, mut seen) = (0, None);
    for lane in lanes(mask) {
        let address = addresses[lane];
        let parity = match *action {
            MbarrierAction::TestState { state, .. } => parity_of(warp.registers.wide(state)[lane]),
            MbarrierAction::TestParity { parity, .. } => warp.registers.word(parity)[lane] & 1,
            _ => return Ok(true),
        };
        let is_complete = |worker: &Worker| {
            let bits = exchange(worker, address, lane, |bits| bits).map_err(at)?;
            let barrier = Mbarrier::from_bits(bits).map_err(|fault| invalid(address, lane, fault)).map_err(at)?;
            Ok(barrier.parity != parity)
        };
        // Bytes that the phase does not wait for need not have arrived yet.
        if !is_complete(worker)? && seen != Some(address) {
            arrive_after_copies(worker, address).map_err(at)?;
            transit::arrive_at(worker, address, lane).map_err(at)?;
            seen = Some(address);
        }
        let is_complete = is_complete(worker)?;
        complete |= u32::from(is_complete) << lane;
        observe::meets(worker, warp, place, address, Meets::Waits { complete: is_complete });
    }
    if complete == mask {
        worker.asynchronous.failed_waits = 0;
    } else if !last {
        let rest = split.mask & !mask;
        let waits = if rest == 0 { *split } else { warp.part(*split, mask, &[(split.pc + 1, rest)], split.pc + 1) };
        warp.waiting.push((waits, Wait::Asynchronous));
        return Ok(false);
    } else {
        observe::meets(worker, warp, place, addresses[mask.trailing_zeros() as usize], Meets::GivesUp);
    }
    // A thread that has seen the completed phase has seen what came before the arrivals.
    let operation = MemoryOperation::mbarrier(place, MbarrierAccess::Wait);
    sanitizer::access(worker, warp, &Observed::new(&operation, Space::Shared, &addresses), complete);
    if let MbarrierAction::TestState { d, .. } | MbarrierAction::TestParity { d, .. } = *action {
        warp.registers.set_predicate(d, mask, complete);
    }
    Ok(true)
}

/// Completes the copies that an mbarrier waits for: they must be done when a thread looks at it.
fn arrive_after_copies(worker: &mut Worker, address: u64) -> Attempt {
    for warp in 0..worker.block.copies.len() {
        let ends = worker.block.copies[warp].before_arrivals_at(address);
        complete(worker, warp as u32, &ends, Waits::AtBarrier)?;
    }
    Ok(())
}

/// The trap of a split whose phase never completes.
pub(crate) fn never_complete(worker: &Worker, warp: &Warp, split: &Split) -> TrapKind {
    let action = worker.launched.code.instructions.get(split.pc as usize).map(|instruction| &instruction.action);
    let lane = split.mask.trailing_zeros() as usize & 31;
    let address = match action {
        Some(Action::Asynchronous(action)) => match &**action {
            Asynchronous::Mbarrier { reach, .. } => {
                let addresses = barrier_addresses(worker, warp, reach, split, 1 << lane, false);
                addresses.map_or(0, |addresses| addresses[lane])
            }
            _ => 0,
        },
        _ => 0,
    };
    let barrier = exchange(worker, address, lane, |bits| bits).ok().and_then(|bits| Mbarrier::from_bits(bits).ok());
    let (arrivals, bytes) = barrier.map_or((0, 0), |barrier| (barrier.pending, barrier.bytes));
    TrapKind::PhaseNeverComplete { address, arrivals, bytes }
}
