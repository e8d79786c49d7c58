//! Executes the instructions of a warp: the loop, and simple control flow such as branches. All
//! other instructions are in separate files.

use ptx::Special;

use crate::lanes::{FULL, WideRow};
use crate::machine::matrix::tiles;
use crate::machine::state::{At, AtPoint, Fault, Next, Point, Split, Warp, Worker};
use crate::machine::{
    asynchronous, atomic, barriers, calls, delayed, follow, inspect, meeting, observe, stale, surface, system, texture,
    transfer, written,
};
use crate::program::{Action, RETURN, SyncScope};
use crate::trap::TrapKind;

/// Runs a warp until none of its splits can proceed, for at most `quantum` instructions.
pub(super) fn run<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>, quantum: u64) -> Result<(), Fault> {
    if worker.draws.is_some() {
        return run_steps::<false, false, true>(worker, warp, quantum);
    }
    match (worker.inspects, worker.traces(warp)) {
        (true, _) => run_steps::<true, false, false>(worker, warp, quantum),
        (false, true) => run_steps::<false, true, false>(worker, warp, quantum),
        (false, false) => run_steps::<false, false, false>(worker, warp, quantum),
    }
}

/// [`run`], with or without inspections by the sanitizer before steps, recording them, or drawing
/// where it is interrupted. Checks are not for drawn orders, so the first and last do not combine.
#[expect(clippy::too_many_lines, reason = "one arm for each case")]
fn run_steps<'l, const INSPECTED: bool, const TRACED: bool, const DRAWN: bool>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    quantum: u64,
) -> Result<(), Fault> {
    let launched = worker.launched;
    let instructions = launched.code.instructions.as_slice();
    let end = warp.executed + quantum;
    while let Some(mut split) = warp.ready.pop() {
        warp.enter(&split);
        loop {
            if split.pc == split.join_at {
                warp.arrive(split);
                break;
            }
            let Some(instruction) = instructions.get(split.pc as usize) else {
                // The end of the function.
                if INSPECTED {
                    inspect::hand_back(launched.code, warp, &split);
                }
                match warp.leave(split) {
                    Some((caller, frame)) => {
                        calls::take_results(launched.code, warp, &frame, &caller);
                        split = caller;
                        warp.enter(&split);
                        continue;
                    }
                    None => {
                        let all = split.mask;
                        exit(worker, warp, &mut split, all);
                        break;
                    }
                }
            };
            if warp.executed >= end {
                // Others first: this split may wait for them.
                warp.ready.insert(0, split);
                return Ok(());
            }
            let mask = split.mask & warp.registers.predicate(instruction.guard);
            let mut older = None;
            if DRAWN && mask != 0 {
                let scopes = match &instruction.action {
                    Action::Fence(fence) => Some((fence.scope, fence.scope, false)),
                    // Others see all stores, but a barrier of the block says nothing of other blocks'.
                    Action::Barrier(_) => Some((SyncScope::All, SyncScope::Block, true)),
                    Action::ClusterBarrier(_) => Some((SyncScope::All, SyncScope::All, true)),
                    _ => None,
                };
                if let Some((releases, acquires, waits)) = scopes {
                    delayed::fence(worker, warp, releases);
                    stale::synchronise(worker, warp, acquires, waits);
                }
            }
            if DRAWN
                && mask != 0
                && !matches!(instruction.action, Action::Lanes(..))
                && let Some(point) = Point::of(&instruction.action)
                && let Some(draws) = &mut worker.draws
            {
                // Only what each lane does for itself: not matrices, nor asynchronous operations.
                // Of a warp that is together: parts that separate again would cost too much.
                let separable = warp.ready.is_empty()
                    && matches!(instruction.action, Action::Load(_) | Action::Store(_) | Action::Atomic(_));
                let strong = instruction.action.access().is_none_or(|(operation, _)| operation.order.strong);
                match draws.at(point, mask, (strong, separable)) {
                    AtPoint::Goes => {
                        let (weak, follows) = (draws.is_weak(), draws.follows.is_some());
                        let what = (&instruction.action, instruction.place);
                        if weak && delayed::delays(worker, warp, &split, what, mask) {
                            warp.executed += 1;
                            split.pc += 1;
                            continue;
                        }
                        if follows {
                            follow::before(worker, warp, &split, what, mask);
                        }
                        if weak {
                            older = stale::before(worker, warp, &split, &instruction.action, mask);
                        }
                    }
                    AtPoint::Ends => {
                        if draws.notes.is_some() {
                            follow::note(worker, warp, &split, (&instruction.action, point), mask);
                        }
                        warp.ready.push(split);
                        return Ok(());
                    }
                    AtPoint::Yields => {
                        warp.ready.insert(0, split);
                        return Ok(());
                    }
                    AtPoint::Parts(lanes) => {
                        let end = launched.code.straight_until(split.pc, split.join_at);
                        let ways = [(split.pc, split.mask & lanes), (split.pc, split.mask & !lanes)];
                        warp.diverge(split, &ways, end);
                        break;
                    }
                }
            }
            warp.executed += 1;
            if INSPECTED
                && let Some(inspection) = launched.code.inspections.of(split.pc)
                && (warp.unwritten.any() || !inspection.is_of_loaded())
            {
                inspect::before(worker, warp, &split, inspection, mask);
            }
            if TRACED {
                worker.trace(instruction.place);
            }
            let counters = &mut worker.counters[instruction.place as usize];
            counters.executed += 1;
            // The usual case first: not all target processors have an instruction to count bits.
            if mask == FULL {
                counters.active_lanes += 32;
            } else {
                counters.active_lanes += u64::from(split.mask.count_ones());
                counters.guarded_off_lanes += u64::from((split.mask & !mask).count_ones());
            }
            if let Action::Lanes(handler, operands) = &instruction.action {
                if mask != 0 {
                    handler(&mut warp.registers, operands, mask);
                }
                split.pc += 1;
                continue;
            }
            let ready = warp.ready.len();
            let next = control(worker, warp, &mut split, &instruction.action, mask, instruction.place)?;
            if DRAWN {
                if let Some(older) = older {
                    older.give(warp, &instruction.action);
                }
                follow::after(worker);
            }
            match next {
                Next::On => {}
                Next::Gone => {
                    if DRAWN
                        && warp.ready.len() > ready + 1
                        && worker.draws.as_mut().is_some_and(|draws| draws.swaps_sides())
                    {
                        let last = warp.ready.len() - 1;
                        warp.ready.swap(last - 1, last);
                    }
                    break;
                }
                Next::Pause => return Ok(()),
                Next::Later => {
                    let counters = &mut worker.counters[instruction.place as usize];
                    (counters.executed, warp.executed) = (counters.executed - 1, warp.executed - 1);
                    counters.active_lanes -= u64::from(split.mask.count_ones());
                    counters.guarded_off_lanes -= u64::from((split.mask & !mask).count_ones());
                    if TRACED {
                        worker.untrace(instruction.place);
                    }
                    warp.ready.insert(0, split);
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Executes what is not arithmetic. Inlined, so that the common loop without inspections does not
/// pay for the other one.
#[inline(always)]
#[expect(clippy::too_many_lines, reason = "one arm for each case")]
fn control<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    split: &mut Split,
    action: &'l Action,
    mask: u32,
    place: u32,
) -> Result<Next, Fault> {
    let pc = split.pc;
    let at = At { split: &*split, mask, place };
    let fault = |kind, mask: u32| Fault { kind, lane: mask.trailing_zeros() & 31, pc };
    match action {
        Action::Branch { target, join_at } => {
            let rest = split.mask & !mask;
            if rest == 0 {
                split.pc = *target;
                return Ok(Next::On);
            }
            if mask == 0 {
                split.pc += 1;
                return Ok(Next::On);
            }
            worker.counters[place as usize].divergent += 1;
            warp.diverge(*split, &[(pc + 1, rest), (*target, mask)], *join_at);
            return Ok(Next::Gone);
        }
        Action::Return { join_at } => {
            let rest = split.mask & !mask;
            if rest == 0 {
                split.pc = RETURN;
                return Ok(Next::On);
            }
            if mask != 0 {
                worker.counters[place as usize].divergent += 1;
                warp.diverge(*split, &[(pc + 1, rest), (RETURN, mask)], *join_at);
                return Ok(Next::Gone);
            }
        }
        _ if mask == 0 => {}
        Action::Lanes(handler, operands) => handler(&mut warp.registers, operands, mask),
        Action::Load(load) => {
            warp.accesses += 1;
            transfer::transfer(worker, warp, &**load, at).map_err(|fault| fault.at(pc))?;
        }
        Action::Store(store) => {
            warp.accesses += 1;
            transfer::transfer(worker, warp, &**store, at).map_err(|fault| fault.at(pc))?;
        }
        Action::Atomic(atomic) => {
            warp.accesses += 1;
            atomic::atomic(worker, warp, atomic, at).map_err(|fault| fault.at(pc))?;
        }
        Action::Fetch(fetch) => {
            warp.accesses += 1;
            texture::fetch(worker, warp, fetch, at).map_err(|fault| fault.at(pc))?;
        }
        Action::Query(query) => texture::query(worker, warp, query, mask).map_err(|fault| fault.at(pc))?,
        Action::Surface(access) => {
            surface::execute(worker, warp, access, at).map_err(|fault| fault.at(pc))?;
        }
        Action::Special { which: Special::ThreadIndex(axis), d, wide: false } => {
            let values = warp.threads[*axis as usize];
            warp.registers.set_word(*d, mask, &values);
        }
        Action::Special { which: Special::BlockIndex(axis), d, wide: false } => {
            warp.registers.set_word(*d, mask, &[worker.block.position[*axis as usize]; 32]);
        }
        Action::Special { which, d, wide } => {
            let values = worker.special(*which, warp);
            if *wide {
                warp.registers.set_wide(*d, mask, &values);
            } else {
                warp.registers.set_word(*d, mask, &values.map(|value| value as u32));
            }
        }
        Action::LocalAddress { d, wide, offset } => {
            let address = warp.frame(split).local.wrapping_add(*offset);
            if *wide {
                warp.registers.set_wide(*d, mask, &[address; 32]);
            } else {
                warp.registers.set_word(*d, mask, &[address as u32; 32]);
            }
        }
        Action::Spill { rows, offset } => {
            let start = warp.frame(split).local + offset;
            for row in 0..rows.count {
                let values = *warp.registers.word(rows.first + row);
                warp.local.set_word(start + u64::from(row) * 4, mask, &values);
            }
            written::spill(worker, warp, mask, start, rows.count * 4);
        }
        Action::Nothing => {}
        Action::Matrix(operation) => {
            if !tiles::execute(worker, warp, operation, at)? {
                return Ok(Next::Gone);
            }
        }
        Action::Asynchronous(operation) => {
            if !asynchronous::execute(worker, warp, operation, at)? {
                return Ok(Next::Gone);
            }
        }
        Action::Fence(fence) => observe::fence(worker, warp, mask, fence),
        Action::BranchIndexed(branch) => return calls::branch_indexed(worker, warp, split, branch, mask, place),
        Action::CallSystem(call) => system::call(worker, warp, call, at).map_err(|fault| fault.at(pc))?,
        Action::Allocate { d, wide, size, align } => {
            let sizes = stack_values(warp, *size, *wide);
            let addresses = warp.allocate(split, mask, &sizes, *align).map_err(|kind| fault(kind, mask))?;
            set_stack_values(warp, *d, *wide, mask, &addresses);
        }
        Action::SaveStack { d, wide } => {
            let tops = warp.stack(split);
            set_stack_values(warp, *d, *wide, mask, &tops);
        }
        Action::RestoreStack { source, wide } => {
            let tops = stack_values(warp, *source, *wide);
            warp.restore_stack(split, mask, &tops);
        }
        Action::Call(call) => return calls::call_function(worker, warp, split, call, mask),
        Action::Exit => {
            exit(worker, warp, split, mask);
            if split.mask == 0 {
                return Ok(Next::Gone);
            }
        }
        Action::Trap => {
            let launched = worker.launched;
            let kind = match launched.code.reads_workspace() && !launched.launch.cooperative {
                true => TrapKind::NotCooperative,
                false => TrapKind::TrapInstruction,
            };
            return Err(fault(kind, mask));
        }
        Action::Breakpoint => return Err(fault(TrapKind::Breakpoint, mask)),
        Action::Barrier(barrier) => return barriers::wait(worker, warp, split, barrier, mask),
        Action::ClusterBarrier(barrier) => {
            if !asynchronous::cluster::execute(worker, warp, split, mask, barrier)? {
                return Ok(Next::Gone);
            }
        }
        Action::WarpBarrier { members }
        | Action::Vote { members, .. }
        | Action::Elect { members, .. }
        | Action::WarpReduce { members, .. } => {
            return meeting::meet_lanes(worker, warp, split, *members, mask, place);
        }
        Action::Shuffle(shuffle) => return meeting::meet_lanes(worker, warp, split, shuffle.members, mask, place),
        Action::Match(matching) => return meeting::meet_lanes(worker, warp, split, matching.members, mask, place),
        Action::ActiveMask { d } => warp.registers.set_word(*d, mask, &[mask; 32]),
    }
    split.pc += 1;
    Ok(Next::On)
}

/// Sizes or addresses of local memory, which have 32 or 64 bits.
fn stack_values(warp: &Warp, row: u32, wide: bool) -> WideRow {
    if wide { *warp.registers.wide(row) } else { warp.registers.word(row).map(u64::from) }
}

fn set_stack_values(warp: &mut Warp, row: u32, wide: bool, mask: u32, values: &WideRow) {
    if wide {
        warp.registers.set_wide(row, mask, values);
    } else {
        warp.registers.set_word(row, mask, &values.map(|value| value as u32));
    }
}

/// Ends some lanes of a split.
fn exit(worker: &mut Worker, warp: &mut Warp, split: &mut Split, mask: u32) {
    warp.alive &= !mask;
    split.mask &= !mask;
    worker.block.barriers.exit(mask, warp.exists);
    if split.mask == 0 {
        warp.end(*split);
    }
}
