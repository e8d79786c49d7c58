//! Loops that `ptxas` unrolls once more, by four, so that the loads of four iterations are under way
//! at once.
//!
//! It does so with a short loop that counts by a constant and writes no global memory, if it has no
//! barrier, no second exit and no loop within. Of the loops of the labs and of `docs/time`, as machine
//! code for sm_90 (ptxas 13.5), it unrolls those and no others; what is left of the iterations runs in
//! twos and ones, as here. A copy's values that no other iteration reads have registers of their own.
//! The branch, its comparison and what only counts remain once for all copies.

use std::collections::{BTreeMap, BTreeSet};

use ptx::{BinaryOp, Instruction, Op, Operand};

use super::pressure::Register;
use super::registers::{has, live_at_starts};
use super::step::{Step, Unit};
use super::trace::Event;
use crate::program::{BasicBlocks, Code, facts};

/// Iterations that become one.
pub(super) const COPIES: usize = 4;
/// The most instructions in an iteration: `nbody`, with 64, stays as it is.
const MOST: usize = 60;

/// A loop that is unrolled.
pub(super) struct Unrolled {
    /// Where it begins, and its branch back.
    pub head: u32,
    pub branch: u32,
    /// Its places, in order, and whether each remains only in the last copy.
    places: Vec<(u32, bool)>,
    /// The step of the first place in the last copy but one; the other copies' steps follow.
    first: u32,
}

/// A function of a kernel, where the loops are looked for.
#[derive(Clone, Copy)]
pub(super) struct Body<'f> {
    pub code: &'f Code,
    pub function: &'f ptx::Function,
    pub blocks: &'f BasicBlocks,
    pub ways: &'f [Vec<u32>],
    /// The place of its first instruction.
    pub first: usize,
    /// The steps of its instructions.
    pub steps: &'f [Step],
}

impl Unrolled {
    /// The iterations of a warp as one straight run of copies. The last copy has the loop's own registers.
    pub fn join(&self, iterations: Vec<Vec<Event>>) -> Vec<Event> {
        let count = iterations.len();
        let mut joined = Vec::with_capacity(iterations.iter().map(Vec::len).sum());
        for (number, iteration) in iterations.into_iter().enumerate() {
            let after = count - 1 - number;
            joined.extend(iteration.into_iter().filter_map(|event| {
                let index = self.places.partition_point(|&(place, _)| place < event.place);
                match after {
                    0 => Some(event),
                    _ if self.places[index].1 => None,
                    _ => {
                        let place = self.first as usize + (after - 1) * self.places.len() + index;
                        Some(Event { place: place as u32, ..event })
                    }
                }
            }));
        }
        joined
    }
}

impl Body<'_> {
    fn body(&self) -> &[Instruction] {
        self.function.body.as_deref().unwrap_or_default()
    }

    fn reads(&self, position: usize) -> &[u32] {
        self.code.registers.reads(self.first + position)
    }

    fn writes(&self, position: usize) -> &[u32] {
        self.code.registers.writes(self.first + position)
    }

    /// The loops that are unrolled. Adds the steps of their copies to `more`, which will follow `before`
    /// steps, and appends further registers to `registers`, whose first of this function is `base`.
    pub fn unrolled(
        &self,
        base: u32,
        registers: &mut Vec<Register>,
        before: usize,
        more: &mut Vec<Step>,
    ) -> Vec<Unrolled> {
        let mut live = None;
        let mut all = Vec::new();
        for block in 0..self.blocks.count() {
            let Some((head, positions)) = self.natural_loop(block) else { continue };
            let branch = self.blocks.positions(block).end - 1;
            let Some(once) = self.counts(&positions, branch) else { continue };
            let live = live.get_or_insert_with(|| live_at_starts(self.code, self.function, self.first));
            let carried = |register: u32| has(&live[head], register as usize);
            let written: BTreeSet<u32> = positions.iter().flat_map(|&at| self.writes(at).iter().copied()).collect();
            let own: Vec<u32> = written.into_iter().filter(|&register| !carried(register)).collect();
            let first = (before + more.len()) as u32;
            for _ in 1..COPIES {
                let names: BTreeMap<u32, u32> = own
                    .iter()
                    .enumerate()
                    .map(|(index, &register)| (register + base, (registers.len() + index) as u32))
                    .collect();
                let copied = |&register: &u32| Register { local: true, ..registers[(register + base) as usize] };
                let copies: Vec<Register> = own.iter().map(copied).collect();
                registers.extend(copies);
                let renamed = |all: &[u32]| all.iter().map(|name| *names.get(name).unwrap_or(name)).collect();
                more.extend(positions.iter().map(|&at| {
                    let step = &self.steps[at];
                    Step { reads: renamed(&step.reads), writes: renamed(&step.writes), ..step.clone() }
                }));
            }
            let place = |position: usize| (self.first + position) as u32;
            all.push(Unrolled {
                head: place(self.blocks.positions(head).start),
                branch: place(branch),
                places: positions.iter().map(|&at| (place(at), once.contains(&at))).collect(),
                first,
            });
        }
        all
    }

    /// The loop that a block ends with its branch back, as its first block and its positions, in
    /// order; `None` if it has another way out or back.
    fn natural_loop(&self, block: usize) -> Option<(usize, Vec<usize>)> {
        let after = |block: usize| &self.ways[self.blocks.positions(block).end - 1];
        let branch = &self.body()[self.blocks.positions(block).end - 1];
        let Op::Branch { target, .. } = branch.op else { return None };
        branch.guard?;
        let block_at = |position: u32| {
            let of = |block: &usize| self.blocks.positions(*block).contains(&(position as usize));
            (0..self.blocks.count()).find(of)
        };
        let head = block_at(target)?;
        let (mut blocks, mut waiting) = (BTreeSet::from([head]), vec![block]);
        while let Some(next) = waiting.pop() {
            if blocks.insert(next) {
                waiting.extend(&self.blocks.before[next]);
            }
            if blocks.len() > MOST {
                return None;
            }
        }
        let stays = |to: &u32| block_at(*to).is_some_and(|to| blocks.contains(&to));
        let leaves = blocks.iter().any(|&one| one != block && !after(one).iter().all(stays));
        let backs = blocks.iter().filter(|&&one| after(one).contains(&target)).count();
        if leaves || backs != 1 || (blocks.contains(&0) && head != 0) {
            return None;
        }
        Some((head, blocks.into_iter().flat_map(|block| self.blocks.positions(block)).collect()))
    }

    /// What remains once of the copies of a loop that counts by a constant; `None` if it does not,
    /// or does what is not unrolled.
    fn counts(&self, positions: &[usize], branch: usize) -> Option<BTreeSet<usize>> {
        let body = self.body();
        if positions.len() > MOST || positions.iter().any(|&at| !facts(&body[at].op).unrolled) {
            return None;
        }
        let writers = |register: u32| positions.iter().copied().filter(move |&at| self.writes(at).contains(&register));
        let one = |register: u32| Some(writers(register).next()?).filter(|_| writers(register).count() == 1);
        let steps = |at: usize| match &body[at].op {
            Op::Binary { op: BinaryOp::Add | BinaryOp::Subtract, b: Operand::Integer(_), .. } => {
                body[at].guard.is_none() && self.reads(at) == self.writes(at)
            }
            _ => false,
        };
        let &[predicate] = self.reads(branch) else { return None };
        let test = one(predicate).filter(|&at| matches!(body[at].op, Op::SetPredicate { combine: None, .. }))?;
        let mut counted = self.reads(test).iter().filter(|&&register| writers(register).next().is_some());
        if counted.clone().count() != 1 || !counted.all(|&register| one(register).is_some_and(steps)) {
            return None;
        }
        let readers = |register: u32| positions.iter().copied().filter(move |&at| self.reads(at).contains(&register));
        let mut once = BTreeSet::from([branch]);
        if readers(predicate).all(|at| at == branch) {
            once.insert(test);
        }
        // An addend of an address is part of the access.
        let folds = |at: usize| {
            self.writes(at).iter().all(|&register| {
                let mut readers = readers(register);
                one(register) == Some(at)
                    && readers
                        .all(|reader| reader == at || reader == test || self.steps[reader].cost.unit == Unit::Memory)
            })
        };
        once.extend(positions.iter().copied().filter(|&at| steps(at) && folds(at)));
        Some(once)
    }
}
