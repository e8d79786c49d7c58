//! An estimate of the registers that `ptxas` gives a thread, from the values that are live at once.
//!
//! PTX has as many registers as it likes. The most that are live at one instruction is what a
//! thread cannot do without; `ptxas` adds some for addresses and for loads that it moves up. On an
//! H200, the estimate is compared with Nsight Compute's `launch__registers_per_thread` in
//! `docs/TIME.md`. For sm_90, `ptxas` of CUDA 12.9 gives the 394 kernels of `kernels/ptx` 4.6
//! registers more or fewer, on average (2026-11-29).

use ptx::{BinaryOp, ComputeOp, Function, Kind, Module, Op, Precision, Space, Type, UnaryOp};

use crate::program::{BasicBlocks, Code, facts, successors};

/// Added to the live registers.
const OVERHEAD: u32 = 4;
/// The same on 1.x, which has no ABI: the tiled product of Ryoo et al. (PPoPP 2008) takes 10 (not
/// verified; with 11, a multiprocessor could not hold its 768 threads).
const OLD_OVERHEAD: u32 = 2;
/// The most with which all warps can be resident, and how many more `ptxas` avoids by another
/// order.
const FULL: u32 = 32;
const AVOIDED: u32 = 6;
/// The fewest that a thread has.
const FEWEST: u32 = 16;

/// The estimate for a kernel and the functions that it may call. `old`: on 1.x.
pub(crate) fn estimate(code: &Code, module: &Module, old: bool) -> u32 {
    let (overhead, fewest) = if old { (OLD_OVERHEAD, 0) } else { (OVERHEAD, FEWEST) };
    let mut most = 0;
    let mut place = 0;
    while let Some(&(handle, _)) = code.positions.get(place) {
        let function = &module.functions[handle];
        let length = function.body.as_ref().map_or(0, Vec::len);
        if length == 0 {
            break;
        }
        most = most.max(live(code, function, place, old).1);
        place += length;
    }
    match (most + overhead).max(fewest).next_multiple_of(2) {
        registers if !old && (FULL..=FULL + AVOIDED).contains(&registers) => FULL,
        registers => registers,
    }
}

/// 32-bit registers for a PTX register. Predicates have a file of their own. On 1.x (`old`),
/// integers of 64 bits are mostly pointers, which have 32 bits.
fn words(ty: Type, old: bool) -> u32 {
    match ty {
        Type::Pred => 0,
        ty if old && ty.bits() == 64 && ty != Type::F64 => 1,
        ty => ty.bits().div_ceil(32),
    }
}

/// The registers that are live where each basic block of a function begins, as bits of words.
/// `first` is its first place.
pub(super) fn live_at_starts(code: &Code, function: &Function, first: usize) -> Vec<Vec<u64>> {
    live(code, function, first, false).0
}

/// The words of each register of a function whose first place is `first`: none for what `ptxas`
/// keeps elsewhere.
pub(super) fn sizes(code: &Code, function: &Function, first: usize, old: bool) -> Vec<u32> {
    let body = function.body.as_deref().unwrap_or_default();
    let mut sizes: Vec<u32> = function.registers.iter().map(|(_, register)| words(register.ty, old)).collect();
    // On 1.x instructions take operands from shared memory, where parameters are, too; a pointer
    // and the index that it is made of are the same register.
    let takes_none = |op: &Op| match op {
        Op::Load { space, .. } => matches!(space, Space::Parameter | Space::Shared),
        Op::Compute(ComputeOp::ConvertAddress { .. }) => true,
        Op::Compute(ComputeOp::Convert { to, from, .. }) => {
            (to.bits(), from.bits()) == (64, 32) && to.kind() == from.kind()
        }
        _ => false,
    };
    for (position, _) in body.iter().enumerate().filter(|(_, instruction)| old && takes_none(&instruction.op)) {
        code.registers.writes(first + position).iter().for_each(|&written| sizes[written as usize] = 0);
    }
    if !old {
        let uniform = in_uniform_registers(code, function, first);
        sizes.iter_mut().zip(uniform).filter(|(_, uniform)| *uniform).for_each(|(size, _)| *size = 0);
    }
    sizes
}

/// The registers that are live where each basic block begins, and the most words that are live at
/// once.
fn live(code: &Code, function: &Function, first: usize, old: bool) -> (Vec<Vec<u64>>, u32) {
    let body = function.body.as_deref().unwrap_or_default();
    let sizes = sizes(code, function, first, old);
    let successors = successors(body);
    let blocks = BasicBlocks::new(body.len(), &successors);
    let words = sizes.len().div_ceil(64);
    let mut at_start = vec![vec![0u64; words]; blocks.count()];
    let mut waiting: Vec<usize> = (0..blocks.count()).collect();
    let mut is_waiting = vec![true; blocks.count()];
    let mut most = 0;
    // Blocks are visited until nothing changes, so the last visit of each sees all that is live.
    while let Some(block) = waiting.pop() {
        is_waiting[block] = false;
        let range = blocks.positions(block);
        let mut now = vec![0u64; words];
        for &next in &successors[range.end - 1] {
            let next = blocks.at(next as usize).map(|next| &at_start[next]);
            for (now, next) in now.iter_mut().zip(next.into_iter().flatten()) {
                *now |= next;
            }
        }
        let mut size: u32 = sizes.iter().enumerate().filter(|&(index, _)| has(&now, index)).map(|(_, size)| size).sum();
        most = most.max(size);
        for position in range.rev() {
            for &written in code.registers.writes(first + position) {
                if has(&now, written as usize) {
                    now[written as usize / 64] &= !(1 << (written % 64));
                    size -= sizes[written as usize];
                }
            }
            for &read in code.registers.reads(first + position) {
                if !has(&now, read as usize) {
                    now[read as usize / 64] |= 1 << (read % 64);
                    size += sizes[read as usize];
                }
            }
            most = most.max(size + temporaries(&body[position].op));
        }
        if now != at_start[block] {
            at_start[block] = now;
            for &before in &blocks.before[block] {
                if !std::mem::replace(&mut is_waiting[before], true) {
                    waiting.push(before);
                }
            }
        }
    }
    (at_start, most)
}

/// Registers besides those of its operands that an instruction takes which `ptxas` makes a row of
/// instructions and a subroutine: as CUDA 12.9 does for sm_90.
fn temporaries(op: &Op) -> u32 {
    let Op::Compute(op) = op else { return 0 };
    match op {
        ComputeOp::Binary { op: BinaryOp::Divide, ty: Type::F64, .. } => 12,
        ComputeOp::Binary { op: BinaryOp::Divide, ty: Type::F32, mode, .. } if mode.precision == Precision::Exact => 9,
        ComputeOp::Unary { op: UnaryOp::SquareRoot, ty: Type::F64, .. } => 10,
        ComputeOp::Unary { op: UnaryOp::Reciprocal, ty: Type::F64, .. } => 4,
        _ => 0,
    }
}

/// Whether an instruction computes with floats.
fn computes_floats(op: &Op) -> bool {
    let is_float = |ty: &Type| ty.kind() == Kind::Float;
    match op {
        Op::Compute(ComputeOp::Unary { ty, .. } | ComputeOp::Binary { ty, .. } | ComputeOp::Ternary { ty, .. }) => {
            is_float(ty)
        }
        Op::Compute(ComputeOp::Convert { to, from, .. }) => is_float(to) || is_float(from),
        _ => false,
    }
}

/// Registers that `ptxas` keeps in uniform registers, or reads where they are needed: the same in
/// all threads of a block, written at one place, and not computed as floats, which uniform
/// registers cannot hold.
fn in_uniform_registers(code: &Code, function: &Function, first: usize) -> Vec<bool> {
    let body = function.body.as_deref().unwrap_or_default();
    let mut writes = vec![0u32; function.registers.len()];
    let places = first..first + body.len();
    places.flat_map(|place| code.registers.writes(place)).for_each(|&written| writes[written as usize] += 1);
    let is_once = |place: usize| code.registers.writes(place).iter().all(|&written| writes[written as usize] == 1);
    uniform_if(code, function, first, |place, op| is_once(place) && !computes_floats(op))
}

/// Registers that have the same value in all threads of a block: what is computed from parameters,
/// constants and the block's indices.
pub(super) fn uniform(code: &Code, function: &Function, first: usize) -> Vec<bool> {
    uniform_if(code, function, first, |_, _| true)
}

/// The same, if only what these instructions write can be such.
fn uniform_if(code: &Code, function: &Function, first: usize, can: impl Fn(usize, &Op) -> bool) -> Vec<bool> {
    let body = function.body.as_deref().unwrap_or_default();
    let mut all = vec![true; function.registers.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (position, instruction) in body.iter().enumerate() {
            let place = first + position;
            let is_uniform = facts(&instruction.op).uniform && can(place, &instruction.op);
            if !is_uniform || code.registers.reads(place).iter().any(|&read| !all[read as usize]) {
                for &written in code.registers.writes(place) {
                    changed |= std::mem::replace(&mut all[written as usize], false);
                }
            }
        }
    }
    all
}

pub(super) fn has(set: &[u64], index: usize) -> bool {
    set[index / 64] >> (index % 64) & 1 == 1
}
