//! Loops that `ptxas` unrolls by four, in addition to what the first compiler has unrolled.
//!
//! These are short loops that count by a constant and write no global memory, without a barrier, a
//! second exit or an inner loop. In the machine code for sm_90 (ptxas 13.5) of the labs and of
//! `measurements/kernels`, these loops are unrolled and no others.

use std::collections::BTreeSet;

use ptx::{BinaryOp, ComputeOp, ControlOp, Instruction, Op, Operand};

use super::blocks::BasicBlocks;
use super::facts::facts;

/// The most instructions in an iteration: `nbody`, with 64, is not unrolled.
const MOST: usize = 60;

/// A function, where the loops are looked for.
#[derive(Clone, Copy)]
pub(crate) struct Loops<'f> {
    pub body: &'f [Instruction],
    pub blocks: &'f BasicBlocks,
    /// The successors of each position.
    pub successors: &'f [Vec<u32>],
    /// The registers that a position reads, its guard included, and those that it writes.
    pub reads: &'f dyn Fn(usize) -> Vec<u32>,
    pub writes: &'f dyn Fn(usize) -> Vec<u32>,
}

/// A loop that is unrolled.
pub(crate) struct Loop {
    /// Where it begins.
    pub head: usize,
    /// Its positions, in order.
    pub positions: Vec<usize>,
    /// Its branch back, the comparison that the branch depends on, and the register in between.
    pub branch: usize,
    pub test: usize,
    pub predicate: u32,
}

impl Loops<'_> {
    /// The loops that are unrolled.
    pub fn unrolled(&self) -> impl Iterator<Item = Loop> {
        (0..self.blocks.count()).filter_map(|block| {
            let (head, positions) = self.natural_loop(block)?;
            let branch = self.blocks.positions(block).end - 1;
            let (test, predicate) = self.counts(&positions, branch)?;
            Some(Loop { head: self.blocks.positions(head).start, positions, branch, test, predicate })
        })
    }

    /// Whether a position adds a constant to a register.
    pub fn steps(&self, at: usize) -> bool {
        match &self.body[at].op {
            Op::Compute(ComputeOp::Binary {
                op: BinaryOp::Add | BinaryOp::Subtract, b: Operand::Integer(_), ..
            }) => self.body[at].guard.is_none() && (self.reads)(at) == (self.writes)(at),
            _ => false,
        }
    }

    /// The only one of some positions that writes a register.
    pub fn writer(&self, positions: &[usize], register: u32) -> Option<usize> {
        let mut writers = positions.iter().copied().filter(|&at| (self.writes)(at).contains(&register));
        writers.next().filter(|_| writers.next().is_none())
    }

    /// The loop that a block ends with its branch back, as its first block and its positions, in
    /// order; `None` if it has another way out or back.
    fn natural_loop(&self, block: usize) -> Option<(usize, Vec<usize>)> {
        let after = |block: usize| &self.successors[self.blocks.positions(block).end - 1];
        let branch = &self.body[self.blocks.positions(block).end - 1];
        let Op::Control(ControlOp::Branch { target, .. }) = branch.op else { return None };
        branch.guard?;
        let head = self.blocks.at(target as usize)?;
        let (mut blocks, mut waiting) = (BTreeSet::from([head]), vec![block]);
        while let Some(next) = waiting.pop() {
            if blocks.insert(next) {
                waiting.extend(&self.blocks.before[next]);
            }
            if blocks.len() > MOST {
                return None;
            }
        }
        let stays = |to: &u32| self.blocks.at(*to as usize).is_some_and(|to| blocks.contains(&to));
        let leaves = blocks.iter().any(|&one| one != block && !after(one).iter().all(stays));
        let backs = blocks.iter().filter(|&&one| after(one).contains(&target)).count();
        if leaves || backs != 1 || (blocks.contains(&0) && head != 0) {
            return None;
        }
        Some((head, blocks.into_iter().flat_map(|block| self.blocks.positions(block)).collect()))
    }

    /// The comparison and the predicate of a loop that counts by a constant; `None` if it does not,
    /// or does what is not unrolled.
    fn counts(&self, positions: &[usize], branch: usize) -> Option<(usize, u32)> {
        if positions.len() > MOST || positions.iter().any(|&at| !facts(&self.body[at].op).unrolled) {
            return None;
        }
        let [predicate] = (self.reads)(branch)[..] else { return None };
        let test = self.writer(positions, predicate)?;
        let Op::Compute(ComputeOp::SetPredicate { combine: None, .. }) = self.body[test].op else { return None };
        let writes = |register: &u32| positions.iter().any(|&at| (self.writes)(at).contains(register));
        let counted: Vec<u32> = (self.reads)(test).into_iter().filter(writes).collect();
        let counts = |&register: &u32| self.writer(positions, register).is_some_and(|at| self.steps(at));
        (counted.len() == 1 && counted.iter().all(counts)).then_some((test, predicate))
    }
}
