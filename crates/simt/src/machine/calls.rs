//! Indexed branches, and calls of functions with their arguments and results.

use crate::lanes::lanes;
use crate::machine::inspect;
use crate::machine::state::{Fault, Frame, Next, Split, Warp, Worker};
use crate::program::{Action, BranchIndexed, Call, Callee, Code, function_at};
use crate::trap::TrapKind;

pub(super) fn branch_indexed(
    worker: &mut Worker,
    warp: &mut Warp,
    split: &mut Split,
    branch: &BranchIndexed,
    mask: u32,
    place: u32,
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
    for lane in lanes(mask) {
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
    worker.counters[place as usize].divergent += 1;
    warp.diverge(*split, &ways, branch.join_at);
    Ok(Next::Gone)
}

pub(super) fn call_function(
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
            // Lanes with another callee follow later.
            for lane in lanes(mask) {
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

/// Copies what a function returns to its caller's rows. The function's frame has ended, but its
/// rows are still valid.
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
