//! Which values and which control flow of a kernel depend on the thread.
//!
//! A value is *divergent* if it may differ between threads of a block, a block of the control flow
//! is *divergent* if some threads may execute it while others do not, or not as often. The rules:
//!
//! 1. Thread positions, clocks, atomics, loads from memory that may be written, and results of
//!    unknown calls are divergent ([`values`](super::values)).
//! 2. A result is divergent if an operand is.
//! 3. After a branch on a divergent value, threads are diverged up to the branch's immediate
//!    post-dominator: the blocks between are divergent ([`flow`](super::flow)).
//! 4. What a divergent block computes is divergent. So is what a loop computes that threads leave
//!    after different numbers of iterations.
//! 5. Where diverged threads reconverge, a `phi` is divergent if it takes different values from the
//!    diverged paths.
//!
//! Why that is right: take the sequence of blocks that a thread executes, and leave out what it
//! executes between a divergent branch and the point of reconvergence. All threads that end have
//! the same sequence, and values that are not divergent are equal at equal places in it. By
//! induction over the sequence: a value outside divergent blocks depends on operands that are equal
//! by (2) and (4), a `phi` comes from the same block, or takes the same value by (5), and a branch
//! that is not divergent goes the same way. A thread that never ends stops somewhere in its
//! sequence.

use std::collections::HashSet;

use super::flow::Flow;
use super::function::Function;
use super::values::{Effect, Origin, Scope, effect};

/// Why a value is divergent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// The value itself is where it begins.
    Begins(Origin),
    /// An operand of unknown origin.
    Unknown,
    /// The value of this instruction.
    Follows(usize),
}

/// The result for one kernel.
pub(super) struct Divergence {
    /// Why each instruction's result is divergent, by the instruction's index.
    values: Vec<Option<Reason>>,
    /// The branch that makes a block divergent: the index of the instruction.
    blocks: Vec<Option<usize>>,
}

impl Divergence {
    pub fn of(function: &Function<'_>, constants: &HashSet<&str>, scope: Scope) -> Self {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); function.instructions.len()];
        let mut divergence = Divergence { values: vec![None; users.len()], blocks: vec![None; function.blocks.len()] };
        let mut open = Vec::new();
        let flow = Flow::of(function);
        for (index, instruction) in function.instructions.iter().enumerate() {
            let mut ignores_operands = false;
            if instruction.result.is_some() {
                match effect(instruction, function, constants, scope) {
                    Effect::Differs(origin) => divergence.mark(index, Reason::Begins(origin), &mut open),
                    Effect::Uniform => ignores_operands = true,
                    Effect::Computes => {}
                }
            }
            for operand in &instruction.operands {
                match function.defined.get(operand) {
                    _ if ignores_operands => {}
                    Some(&operand) => users[operand].push(index),
                    None => divergence.mark(index, Reason::Unknown, &mut open),
                }
            }
        }
        while let Some(value) = open.pop() {
            let instruction = &function.instructions[value];
            let block = &function.blocks[instruction.block];
            if instruction.operation != "parameter" && value + 1 == block.instructions.end {
                divergence.part(value, function, &flow, &mut open);
            }
            for &user in &users[value] {
                divergence.mark(user, Reason::Follows(value), &mut open);
            }
        }
        divergence
    }

    fn mark(&mut self, value: usize, reason: Reason, open: &mut Vec<usize>) {
        if self.values[value].is_none() {
            self.values[value] = Some(reason);
            open.push(value);
        }
    }

    /// Follows a branch on a divergent value.
    fn part(&mut self, branch: usize, function: &Function<'_>, flow: &Flow, open: &mut Vec<usize>) {
        let from = function.instructions[branch].block;
        let parting = flow.part(from);
        let mut diverged = vec![false; function.blocks.len()];
        diverged[from] = true;
        for &block in &parting.region {
            diverged[block] = true;
            if self.blocks[block].is_none() {
                self.blocks[block] = Some(branch);
                for index in function.blocks[block].instructions.clone() {
                    if function.instructions[index].result.is_some() {
                        self.mark(index, Reason::Follows(branch), open);
                    }
                }
            }
        }
        let Some(meeting) = parting.meeting else { return };
        for index in function.blocks[meeting].instructions.clone() {
            let incoming = &function.instructions[index].incoming;
            let mut values = incoming.iter().filter(|(.., from)| diverged[*from]).map(|&(value, ..)| value);
            let Some(first) = values.next() else { continue };
            if first.is_empty() || values.any(|value| value != first) {
                self.mark(index, Reason::Follows(branch), open);
            }
        }
    }

    /// The branch that makes a block divergent.
    pub fn branch_of(&self, block: usize) -> Option<usize> {
        self.blocks[block]
    }

    /// Where the divergence of this instruction's result begins, or of its operands if it has no
    /// result.
    pub fn origin(&self, mut instruction: usize) -> Option<(usize, Origin)> {
        loop {
            match self.values[instruction]? {
                Reason::Begins(origin) => return Some((instruction, origin)),
                Reason::Unknown => return Some((instruction, Origin::Local)),
                Reason::Follows(earlier) => instruction = earlier,
            }
        }
    }
}
