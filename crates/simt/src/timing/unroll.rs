//! Loops that `ptxas` unrolls ([`Loops`]), so that the loads of four iterations are under way at
//! once.
//!
//! The remaining iterations run in twos and ones, as in machine code. Values that no other
//! iteration reads have separate registers in each copy. The branch, its comparison and the
//! increment of the counter occur once for all copies.

use std::collections::{BTreeMap, BTreeSet};

use ptx::Instruction;

use super::pressure::Register;
use super::registers::{has, live_at_starts};
use super::step::{Step, Unit};
use super::trace::Event;
use crate::program::{BasicBlocks, Code, Loop, Loops};

/// Iterations that become one.
pub(super) const COPIES: usize = 4;

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
    pub successors: &'f [Vec<u32>],
    /// The place of its first instruction.
    pub first: usize,
    /// The steps of its instructions.
    pub steps: &'f [Step],
}

impl Unrolled {
    /// The iterations of a warp as one straight run of copies. The last copy has the loop's own
    /// registers.
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

    /// The loops that are unrolled. Adds the steps of their copies to `more`, which will follow
    /// `before` steps, and appends further registers to `registers`, whose first of this function
    /// is `base`.
    pub fn unrolled(
        &self,
        base: u32,
        registers: &mut Vec<Register>,
        before: usize,
        more: &mut Vec<Step>,
    ) -> Vec<Unrolled> {
        let mut live = None;
        let mut all = Vec::new();
        let (reads, writes) = (|at| self.reads(at).to_vec(), |at| self.writes(at).to_vec());
        let Self { blocks, successors, .. } = *self;
        let loops = Loops { body: self.body(), blocks, successors, reads: &reads, writes: &writes };
        for found in loops.unrolled() {
            let once = self.once(&loops, &found);
            let Loop { head, positions, branch, .. } = found;
            let live = live.get_or_insert_with(|| live_at_starts(self.code, self.function, self.first));
            let at_start = self.blocks.at(head).unwrap_or(0);
            let carried = |register: u32| has(&live[at_start], register as usize);
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
                head: place(head),
                branch: place(branch),
                places: positions.iter().map(|&at| (place(at), once.contains(&at))).collect(),
                first,
            });
        }
        all
    }

    /// What remains once of the copies of a loop.
    fn once(&self, loops: &Loops<'_>, Loop { positions, branch, test, predicate, .. }: &Loop) -> BTreeSet<usize> {
        let readers = |register: u32| positions.iter().copied().filter(move |&at| self.reads(at).contains(&register));
        let mut once = BTreeSet::from([*branch]);
        if readers(*predicate).all(|at| at == *branch) {
            once.insert(*test);
        }
        // An addend of an address is part of the access.
        let folds = |at: usize| {
            self.writes(at).iter().all(|&register| {
                let mut readers = readers(register);
                loops.writer(positions, register) == Some(at)
                    && readers
                        .all(|reader| reader == at || reader == *test || self.steps[reader].cost.unit == Unit::Memory)
            })
        };
        once.extend(positions.iter().copied().filter(|&at| loops.steps(at) && folds(at)));
        once
    }
}
