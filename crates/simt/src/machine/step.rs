//! Executes the instructions of a warp.

use super::across;
use super::atomic;
use super::hopper::asynchronous;
use super::hopper::cluster;
use super::hopper::matrix;
use super::inspect;
use super::load;
use super::modelled;
use super::observe;
use super::schedule::turns::{Fault, Worker, absence};
use super::state::barrier::{Arrival, COUNT, Outcome};
use super::state::launched::Launched;
use super::state::warp::{Frame, Split, Wait, Warp};
use super::store;
use super::surface;
use super::system;
use super::texture;
use super::written;
use crate::lanes::{FULL, WideRow};
use crate::program::{Action, Barrier, BranchIndexed, Call, Callee, Code, RETURN, function_at};
use crate::trap::{Absence, TrapKind};
use ptx::{BarrierReduction, Special};

/// What becomes of a split after an instruction.
enum Next {
    /// It continues at its program counter.
    On,
    /// It has ended, or waits.
    Gone,
    /// The block has to look after its barriers first.
    Pause,
    /// It has not been executed: other splits of the warp go first.
    Later,
}

/// Runs a warp until none of its splits can go on, for at most `quantum` instructions.
pub(super) fn run<'l>(worker: &mut Worker<'l>, warp: &mut Warp<'l>, quantum: u64) -> Result<(), Fault> {
    match worker.inspects {
        true => run_steps::<true>(worker, warp, quantum),
        false => run_steps::<false>(worker, warp, quantum),
    }
}

/// The same, where the sanitizer looks at some steps before they are executed, or at none.
fn run_steps<'l, const INSPECTED: bool>(
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
            if split.pc == split.meet {
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
                        take_results(launched.code, warp, &frame, &caller);
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
                // Others first: they may be what this split waits for.
                warp.ready.insert(0, split);
                return Ok(());
            }
            warp.executed += 1;
            let mask = split.mask & warp.registers.predicate(instruction.guard);
            if INSPECTED
                && let Some(inspection) = launched.code.inspections.of(split.pc)
                && (warp.unwritten.any() || !inspection.is_of_loaded())
            {
                inspect::before(worker, warp, &split, inspection, mask);
            }
            let counter = &mut worker.counters[instruction.counter as usize];
            counter.executed += 1;
            // The usual case first: not all processors that this is compiled for count bits.
            counter.active_lanes += if mask == FULL { 32 } else { u64::from(mask.count_ones()) };
            if let Action::Lanes(handler, operands) = &instruction.action {
                if mask != 0 {
                    handler(&mut warp.registers, operands, mask);
                }
                split.pc += 1;
                continue;
            }
            match control(worker, warp, &mut split, &instruction.action, mask, instruction.counter)? {
                Next::On => {}
                Next::Gone => break,
                Next::Pause => return Ok(()),
                Next::Later => {
                    let counter = &mut worker.counters[instruction.counter as usize];
                    (counter.executed, warp.executed) = (counter.executed - 1, warp.executed - 1);
                    counter.active_lanes -= u64::from(mask.count_ones());
                    warp.ready.insert(0, split);
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Executes what is not arithmetic. Inlined: the loop without inspections is the common one, and must not suffer from the other.
#[inline(always)]
fn control<'l>(
    worker: &mut Worker<'l>,
    warp: &mut Warp<'l>,
    split: &mut Split,
    action: &'l Action,
    mask: u32,
    counter: u32,
) -> Result<Next, Fault> {
    let pc = split.pc;
    let fault = |kind, mask: u32| Fault { kind, lane: mask.trailing_zeros() & 31, pc };
    match action {
        Action::Branch { target, meet } => {
            let rest = split.mask & !mask;
            if rest == 0 {
                split.pc = *target;
                return Ok(Next::On);
            }
            if mask == 0 {
                split.pc += 1;
                return Ok(Next::On);
            }
            worker.counters[counter as usize].divergent += 1;
            warp.diverge(*split, &[(pc + 1, rest), (*target, mask)], *meet);
            return Ok(Next::Gone);
        }
        Action::Return { meet } => {
            let rest = split.mask & !mask;
            if rest == 0 {
                split.pc = RETURN;
                return Ok(Next::On);
            }
            if mask != 0 {
                worker.counters[counter as usize].divergent += 1;
                warp.diverge(*split, &[(pc + 1, rest), (RETURN, mask)], *meet);
                return Ok(Next::Gone);
            }
        }
        _ if mask == 0 => {}
        Action::Lanes(handler, operands) => handler(&mut warp.registers, operands, mask),
        Action::Load(load) => {
            modelled::load(worker, warp, load, split, mask, counter);
            load::load(worker, warp, load, split, mask, counter).map_err(|fault| fault.at(pc))?;
        }
        Action::Store(store) => {
            modelled::store(worker, warp, store, split, mask, counter);
            store::store(worker, warp, store, split, mask, counter).map_err(|fault| fault.at(pc))?;
        }
        Action::Atomic(atomic) => {
            let mask = observe::atomic(worker, warp, atomic, split, mask, counter);
            if mask != 0 {
                modelled::atomic(worker, warp, atomic, split, mask, counter);
                atomic::atomic(worker, warp, atomic, split, mask, counter).map_err(|fault| fault.at(pc))?;
            }
        }
        Action::Fetch(fetch) => {
            texture::fetch(worker, warp, fetch, mask, counter).map_err(|fault| fault.at(pc))?;
        }
        Action::Query(query) => texture::query(worker, warp, query, mask).map_err(|fault| fault.at(pc))?,
        Action::Surface(access) => {
            surface::execute(worker, warp, access, mask, counter).map_err(|fault| fault.at(pc))?;
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
            let place = matrix::Place { split, counter };
            if !matrix::execute(worker, warp, operation, &place, mask)? {
                return Ok(Next::Gone);
            }
        }
        Action::Asynchronous(operation) => {
            if !asynchronous::execute(worker, warp, operation, split, mask, counter)? {
                return Ok(Next::Gone);
            }
        }
        Action::Fence(fence) => observe::fence(worker, warp, mask, fence),
        Action::BranchIndexed(branch) => return branch_indexed(worker, warp, split, branch, mask, counter),
        Action::CallSystem(call) => system::call(worker, warp, call, mask, counter).map_err(|fault| fault.at(pc))?,
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
        Action::Call(call) => return call_function(worker, warp, split, call, mask),
        Action::Exit => {
            exit(worker, warp, split, mask);
            if split.mask == 0 {
                return Ok(Next::Gone);
            }
        }
        Action::Trap => {
            let launched = worker.launched;
            let kind = match launched.code.reads_workspace() && !launched.cooperative {
                true => TrapKind::NotCooperative,
                false => TrapKind::TrapInstruction,
            };
            return Err(fault(kind, mask));
        }
        Action::Breakpoint => return Err(fault(TrapKind::Breakpoint, mask)),
        Action::Barrier(barrier) => return wait_at_barrier(worker, warp, split, barrier, mask),
        &Action::ClusterBarrier { waits, relaxed, aligned } => {
            if !cluster::execute(worker, warp, split, mask, (waits, relaxed, aligned))? {
                return Ok(Next::Gone);
            }
        }
        Action::WarpBarrier { members }
        | Action::Vote { members, .. }
        | Action::Elect { members, .. }
        | Action::WarpReduce { members, .. } => {
            return meet_lanes(worker, warp, split, *members, mask, counter);
        }
        Action::Shuffle(shuffle) => return meet_lanes(worker, warp, split, shuffle.members, mask, counter),
        Action::Match(matching) => return meet_lanes(worker, warp, split, matching.members, mask, counter),
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

fn branch_indexed(
    worker: &mut Worker,
    warp: &mut Warp,
    split: &mut Split,
    branch: &BranchIndexed,
    mask: u32,
    counter: u32,
) -> Result<Next, Fault> {
    let indices = warp.registers.word(branch.index);
    let mut ways: Vec<(u32, u32)> = Vec::new();
    let mut go = |pc: u32, mask: u32| match ways.iter_mut().find(|way| way.0 == pc) {
        Some(way) => way.1 |= mask,
        None => ways.push((pc, mask)),
    };
    if split.mask & !mask != 0 {
        go(split.pc + 1, split.mask & !mask);
    }
    for lane in super::state::local::lanes(mask) {
        let index = indices[lane];
        let Some(&target) = branch.targets.get(index as usize) else {
            let kind = TrapKind::InvalidBranch { index, targets: branch.targets.len() as u32 };
            return Err(Fault { kind, lane: lane as u32, pc: split.pc });
        };
        go(target, 1 << lane);
    }
    if let [(pc, _)] = ways[..] {
        split.pc = pc;
        return Ok(Next::On);
    }
    worker.counters[counter as usize].divergent += 1;
    warp.diverge(*split, &ways, branch.meet);
    Ok(Next::Gone)
}

fn call_function(
    worker: &mut Worker,
    warp: &mut Warp,
    split: &mut Split,
    call: &Call,
    mut mask: u32,
) -> Result<Next, Fault> {
    let code = worker.launched.code;
    let pc = split.pc;
    let first = mask.trailing_zeros() & 31;
    let fault = |kind| Fault { kind, lane: first, pc };
    let function = match &call.callee {
        Callee::Direct(function) => *function,
        Callee::Indirect { address, candidates } => {
            let addresses = warp.registers.wide(*address);
            let address = addresses[first as usize];
            let named = function_at(address).and_then(|handle| code.by_handle.get(&handle).copied());
            let function = named
                .filter(|function| candidates.contains(function))
                .ok_or_else(|| fault(TrapKind::InvalidCall { address }))?;
            // Lanes that call another function do so after these.
            for lane in super::state::local::lanes(mask) {
                if addresses[lane] != address {
                    mask &= !(1 << lane);
                }
            }
            function
        }
    };
    let rest = split.mask & !mask;
    let mut caller = *split;
    if rest != 0 {
        let calling = warp.registers.predicate(code.instructions[pc as usize].guard) & rest;
        caller = warp.part(*split, mask, &[(pc, calling), (pc + 1, rest & !calling)], pc + 1);
    }
    caller.pc += 1;
    let callee = &code.functions[function as usize];
    let from = warp.frame(split).base.words;
    let inside = warp.call(caller, function, callee).map_err(fault)?;
    if worker.inspects {
        inspect::hand_over(code, warp, &caller, &inside);
    }
    let to = warp.frame(&inside).base.words;
    for (argument, parameter) in call.arguments.iter().zip(&callee.parameters) {
        for row in 0..argument.count.min(parameter.count) {
            warp.registers.copy_word(
                from + (argument.first + row) as usize,
                to + (parameter.first + row) as usize,
                mask,
            );
        }
    }
    *split = inside;
    warp.enter(split);
    Ok(Next::On)
}

/// Copies what a function returns to its caller's rows. The function's frame has ended, but its rows are still there.
pub(super) fn take_results(code: &Code, warp: &mut Warp, ended: &Frame, caller: &Split) {
    let Some(Action::Call(call)) = code.instructions.get(caller.pc as usize - 1).map(|instruction| &instruction.action)
    else {
        return;
    };
    let (from, function) = (ended.base.words, ended.function);
    let to = warp.frame(caller).base.words;
    for (result, rows) in call.results.iter().zip(&code.functions[function as usize].results) {
        for row in 0..result.count.min(rows.count) {
            let (from, to) = (from + (rows.first + row) as usize, to + (result.first + row) as usize);
            warp.registers.copy_word(from, to, caller.mask);
        }
    }
}

fn wait_at_barrier(
    worker: &mut Worker,
    warp: &mut Warp,
    split: &mut Split,
    barrier: &Barrier,
    mask: u32,
) -> Result<Next, Fault> {
    let first = mask.trailing_zeros() & 31;
    let fault = |kind| Fault { kind, lane: first, pc: split.pc };
    let number = warp.registers.word(barrier.number)[first as usize];
    let threads = barrier.threads.map(|threads| warp.registers.word(threads)[first as usize]);
    if number >= COUNT {
        return Err(fault(TrapKind::InvalidBarrier { barrier: number, threads }));
    }
    let missing = warp.alive & !mask;
    if barrier.aligned && missing != 0 && !warp.apart {
        if let Some(next) = before_others_end(worker, warp, split, (number, missing)) {
            return Ok(next);
        }
        let lane = missing.trailing_zeros();
        let (missing, absence) = (warp.thread(lane), absence(warp, lane));
        return Err(fault(TrapKind::BarrierDivergence { barrier: number, missing, absence }));
    }
    if split.mask != mask {
        // A guard that only some lanes of a split satisfy, on a barrier that each thread may execute alone.
        let missing = warp.thread((split.mask & !mask).trailing_zeros());
        let kind = TrapKind::BarrierDivergence { barrier: number, missing, absence: Absence::Diverged };
        return Err(fault(kind));
    }
    let predicate = barrier.reduction.map(|reduction| warp.registers.predicate(reduction.predicate));
    let arrival = Arrival { barrier: number, threads, mask, exists: warp.exists, predicate };
    let arrived = worker.block.barriers.arrive(&arrival);
    arrived.map_err(|()| fault(TrapKind::InvalidBarrier { barrier: number, threads }))?;
    observe::arrive(worker, warp, number, mask, barrier.waits);
    if barrier.waits {
        warp.waiting.push((*split, Wait::Barrier(number)));
    } else {
        split.pc += 1;
        if !worker.block.barriers.has_complete() {
            return Ok(Next::On);
        }
        warp.ready.push(*split);
    }
    Ok(if worker.block.barriers.has_complete() { Next::Pause } else { Next::Gone })
}

/// A split has reached a barrier for its whole warp, and lanes are missing. Those that have nothing before them but their end exit first: the
/// barrier does not wait for threads that have exited. So do those that have not come to any place where they wait.
fn before_others_end(
    worker: &mut Worker,
    warp: &mut Warp,
    split: &Split,
    (barrier, missing): (u32, u32),
) -> Option<Next> {
    let code = worker.launched.code;
    let ends = |pc: u32| code.ends_at(pc);
    let ending = missing & warp.waits_at_joins(ends);
    if ending != 0 {
        observe::left_in_warp(worker, warp, split, (barrier, ending));
        warp.go_on_apart(ends);
        return Some(Next::Later);
    }
    let waits_at_barrier = |other: &Split| {
        let instruction = code.instructions.get(other.pc as usize);
        matches!(instruction.map(|instruction| &instruction.action), Some(Action::Barrier(_)))
    };
    let goes_on = |other: &Split| other.mask & missing != 0 && !waits_at_barrier(other);
    warp.ready.iter().any(goes_on).then_some(Next::Later)
}

/// Gives a split that has waited at a barrier what the barrier computed.
pub(super) fn pass_barrier(launched: &Launched, warp: &mut Warp, split: &Split, outcome: &Outcome) {
    let Some(Action::Barrier(barrier)) =
        launched.code.instructions.get(split.pc as usize).map(|instruction| &instruction.action)
    else {
        return;
    };
    let Some(reduction) = barrier.reduction else { return };
    warp.enter(split);
    let all = |answer| if answer { u32::MAX } else { 0 };
    match reduction.op {
        BarrierReduction::PopulationCount => warp.registers.set_word(reduction.d, split.mask, &[outcome.yes; 32]),
        BarrierReduction::And => {
            warp.registers.set_predicate(reduction.d, split.mask, all(outcome.yes == outcome.votes))
        }
        BarrierReduction::Or => warp.registers.set_predicate(reduction.d, split.mask, all(outcome.yes != 0)),
    }
}

/// Executes an instruction that lanes execute together, or waits for those that it names. Lanes that name different
/// members (the tiles of a warp) are as many instructions, executed one after the other.
fn meet_lanes(
    worker: &mut Worker,
    warp: &mut Warp,
    split: &mut Split,
    members: u32,
    mask: u32,
    counter: u32,
) -> Result<Next, Fault> {
    let code = worker.launched.code;
    let named = *warp.registers.word(members);
    observe::lanes_named(worker, warp, split, &named, mask, counter);
    let lane = mask.trailing_zeros() & 31;
    let members = named[lane as usize];
    let group = |members: u32| {
        super::state::local::lanes(mask).fold(0, |m, lane| m | u32::from(named[lane] == members) << lane)
    };
    // Lanes that have exited, or never were, are not waited for: the hardware does not either.
    let missing = |members: u32| members & warp.alive & !mask;
    if super::state::local::lanes(mask).all(|lane| missing(named[lane]) == 0) {
        let mut left = mask;
        while left != 0 {
            let together = group(named[left.trailing_zeros() as usize & 31]);
            observe::lanes_met(worker, warp, split, together);
            cross_lanes(code, warp, split, together);
            left &= !together;
        }
        split.pc += 1;
        return Ok(Next::On);
    }
    let together = group(members);
    let (others, rest) = (mask & !together, split.mask & !mask);
    let mut waits = *split;
    if others | rest != 0 {
        waits = warp.part(*split, together, &[(split.pc, others), (split.pc + 1, rest)], split.pc + 1);
    }
    warp.waiting.push((waits, Wait::Lanes { members }));
    Ok(Next::Gone)
}

/// Whether two splits of a warp wait at the same instruction (or both at a barrier for lanes), in the same frame.
pub(super) fn may_meet(code: &Code, a: &Split, b: &Split) -> bool {
    let is_barrier = |split: &Split| {
        matches!(
            code.instructions.get(split.pc as usize).map(|instruction| &instruction.action),
            Some(Action::WarpBarrier { .. })
        )
    };
    a.pc == b.pc && a.frame == b.frame || is_barrier(a) && is_barrier(b)
}

/// What lanes that have met do together.
pub(super) fn cross_lanes(code: &Code, warp: &mut Warp, split: &Split, mask: u32) {
    warp.enter(split);
    let registers = &mut warp.registers;
    match code.instructions.get(split.pc as usize).map(|instruction| &instruction.action) {
        Some(Action::Shuffle(shuffle)) => across::shuffle(registers, shuffle, mask),
        Some(Action::Vote { mode, d, predicate, .. }) => across::vote(registers, *mode, *d, *predicate, mask),
        Some(Action::Match(matching)) => across::matching(registers, matching, mask),
        Some(Action::Elect { d, leader, .. }) => across::elect(registers, *d, *leader, mask),
        Some(Action::WarpReduce { op, ty, d, source, .. }) => across::reduce(registers, *op, *ty, *d, *source, mask),
        _ => {}
    }
}
