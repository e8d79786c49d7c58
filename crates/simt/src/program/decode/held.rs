//! Finds the registers that products of a warpgroup (`wgmma`) read and write while the threads
//! continue, so that the sanitizer inspects only instructions on these. Adds inspections to the
//! decoded code.
//!
//! PTX registers are virtual: a value that is only moved from one to another may stay in one
//! hardware register. So the accumulators and the fragments of A include all registers that they
//! are moved to and from, a move is not an access, and constants may be created anywhere.

use std::sync::Arc;

use ptx::{ComputeOp, Instruction, MatrixOp, Op, Operand, WarpgroupFactor};

use crate::program::decode::function::FunctionDecoder;
use crate::program::inspection::{Held, HeldRegisters};

/// Decides what the sanitizer inspects in a kernel; `starts` are the first steps of each position
/// of the body. Called functions are skipped: no product is under way across a call. So is debug
/// code, in which every value is loaded and stored again: its compiler waits for each product.
pub(in crate::program) fn track(decoder: &mut FunctionDecoder<'_, '_>, body: &[Instruction], starts: &[u32]) {
    if !decoder.function.is_kernel || decoder.builder.module.debug {
        return;
    }
    let mut is_held = vec![false; decoder.function.registers.len()];
    for instruction in body {
        let Op::Matrix(MatrixOp::WarpgroupMultiply(product)) = &instruction.op else { continue };
        product.d.iter().flatten().for_each(|sum| is_held[sum.index()] = true);
        if let WarpgroupFactor::Registers(factors) = &product.a {
            factors.iter().filter_map(register).for_each(|factor| is_held[factor] = true);
        }
    }
    if !is_held.contains(&true) {
        return;
    }
    let moves: Vec<(usize, usize)> = body.iter().filter_map(|instruction| moved(&instruction.op)).collect();
    loop {
        let before = is_held.iter().filter(|held| **held).count();
        for &(to, from) in &moves {
            let held = is_held[to] || is_held[from];
            (is_held[to], is_held[from]) = (held, held);
        }
        if is_held.iter().filter(|held| **held).count() == before {
            break;
        }
    }
    let mut count = 0;
    let mut number = || {
        count += 1;
        count - 1
    };
    let numbers: Vec<Option<u32>> = is_held.iter().map(|held| held.then(&mut number)).collect();
    let end = decoder.builder.instructions.len() as u32;
    for (position, (instruction, &start)) in body.iter().zip(starts).enumerate() {
        let is_step = start < starts.get(position + 1).copied().unwrap_or(end);
        if let Some(held) = of(decoder, position, &instruction.op, &numbers).filter(|_| is_step) {
            decoder.builder.inspections.entry(start).held = Some(Box::new(held));
        }
    }
    let names = decoder.function.registers.iter().map(|(_, register)| Arc::from(register.name.as_str()));
    decoder.frame.held = names.zip(&numbers).filter(|(_, number)| number.is_some()).map(|(name, _)| name).collect();
}

/// What an instruction does with such registers; `None`: nothing.
fn of(decoder: &FunctionDecoder<'_, '_>, position: usize, op: &Op, numbers: &[Option<u32>]) -> Option<Held> {
    let of = |registers: &[ptx::Handle<ptx::Register>]| -> Vec<u32> {
        registers.iter().filter_map(|register| numbers[register.index()]).collect()
    };
    let (mut reads, writes) = (of(decoder.uses.reads(position)), of(decoder.uses.writes(position)));
    reads.sort_unstable();
    reads.dedup();
    Some(match op {
        Op::Matrix(MatrixOp::WarpgroupFence) => Held::Fence,
        Op::Matrix(MatrixOp::CommitProducts) => Held::Commit,
        Op::Matrix(MatrixOp::WaitForProducts { groups_left }) => Held::Await { groups_left: *groups_left },
        Op::Matrix(MatrixOp::WarpgroupMultiply(product)) => Held::Multiplies(HeldRegisters {
            sums: product.d.iter().flatten().filter_map(|sum| numbers[sum.index()]).collect(),
            factors: match &product.a {
                WarpgroupFactor::Registers(factors) => {
                    factors.iter().filter_map(register).filter_map(|factor| numbers[factor]).collect()
                }
                WarpgroupFactor::Shared { .. } => Vec::new(),
            },
            shape: [product.shape.n, product.shape.k],
        }),
        _ => match (moved(op), &writes[..]) {
            (Some((to, from)), _) => Held::Moves { to: numbers[to]?, from: numbers[from]? },
            (None, []) if reads.is_empty() => return None,
            // A compiler may create a constant anywhere.
            (None, &[to]) if matches!(op, Op::Compute(ComputeOp::Move { .. })) && reads.is_empty() => Held::Sets { to },
            _ => Held::Touches { reads, writes, unpacks: matches!(op, Op::Compute(ComputeOp::Unpack { .. })) },
        },
    })
}

fn register(operand: &Operand) -> Option<usize> {
    Some(operand.register()?.index())
}

/// The registers that an instruction only moves a value to and from.
fn moved(op: &Op) -> Option<(usize, usize)> {
    match op {
        Op::Compute(ComputeOp::Move { dst: Some(to), src: Operand::Register(from), .. }) => {
            Some((to.index(), from.index()))
        }
        _ => None,
    }
}
