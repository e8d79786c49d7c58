//! Records what a function's instructions read and write, and whether values are only moved or
//! computed with. `operands` and `memory` add to it while they decode; `copied` and `expected`
//! evaluate it.
//!
//! Padding between the fields of a struct is copied with them, and the sanitizer must not count
//! that as a use. What is a move is in [`facts`](crate::program::facts).

use std::collections::HashSet;
use std::ops::Range;

use ptx::{AtomicOp, Destination, Handle, Op, Operand, Register};

use crate::program::code::Action;
use crate::program::code::Instruction;
use crate::program::facts::facts;

/// The uses of a function's registers.
#[derive(Default)]
pub(super) struct Uses {
    /// Registers that something is computed from.
    computed: HashSet<Handle<Register>>,
    /// Registers that a compare-and-swap expects in memory.
    expected: HashSet<Handle<Register>>,
    /// Registers that are moved: from, to.
    moves: Vec<(Handle<Register>, Handle<Register>)>,
    /// The destinations of each load, with the load's position.
    loads: Vec<(usize, Vec<Destination>)>,
    /// The steps of loads, and the registers that each writes.
    loaded: Vec<(usize, Vec<Handle<Register>>)>,
    /// Whether the current operand is only moved.
    pub moving: bool,
    /// The registers that instructions read (without guards), and those that they write.
    reads: Vec<Handle<Register>>,
    writes: Vec<Handle<Register>>,
    /// Which of these belong to each instruction.
    instructions: Vec<(Range<usize>, Range<usize>)>,
}

impl Uses {
    /// The next instruction begins; its guard has been read.
    pub fn begin(&mut self, op: &Op) {
        if let Op::Atomic { op: AtomicOp::CompareAndSwap, a: Operand::Register(expected), .. } = *op {
            self.expected.insert(expected);
        }
        self.moving = facts(op).moves;
        let (reads, writes) = (self.reads.len(), self.writes.len());
        self.instructions.push((reads..reads, writes..writes));
    }

    /// The instruction ends.
    pub fn end(&mut self) {
        let Some((reads, writes)) = self.instructions.last_mut() else { return };
        (reads.end, writes.end) = (self.reads.len(), self.writes.len());
        if std::mem::take(&mut self.moving) {
            let (reads, writes) = (&self.reads[reads.clone()], &self.writes[writes.clone()]);
            self.moves.extend(reads.iter().flat_map(|&from| writes.iter().map(move |&to| (from, to))));
        }
    }

    /// A register is read.
    pub fn read(&mut self, register: Handle<Register>) {
        self.reads.push(register);
        if !self.moving {
            self.computed.insert(register);
        }
    }

    /// A register is written.
    pub fn write(&mut self, register: Handle<Register>) {
        self.writes.push(register);
    }

    /// The registers that the instruction at a position of the body reads, without its guard.
    pub fn reads(&self, position: usize) -> &[Handle<Register>] {
        self.instructions.get(position).map_or(&[], |(reads, _)| &self.reads[reads.clone()])
    }

    /// The registers that it writes.
    pub fn writes(&self, position: usize) -> &[Handle<Register>] {
        self.instructions.get(position).map_or(&[], |(_, writes)| &self.writes[writes.clone()])
    }

    /// The load at this position writes these registers.
    pub fn load(&mut self, at: usize, destinations: &[Destination]) {
        self.loads.push((at, destinations.to_vec()));
    }

    /// The registers that a compare-and-swap expects, and the moves from register to register:
    /// from, to.
    pub fn expected(&self) -> (impl Iterator<Item = usize>, impl Iterator<Item = (usize, usize)>) {
        let moves = self.moves.iter().map(|(from, to)| (from.index(), to.index()));
        (self.expected.iter().map(|register| register.index()), moves)
    }

    /// The steps of loads, and the registers that each writes.
    pub fn loaded(&self) -> &[(usize, Vec<Handle<Register>>)] {
        &self.loaded
    }

    /// Marks in the loads which of their elements are only copied.
    pub fn mark_loads(&mut self, instructions: &mut [Instruction]) {
        loop {
            let before = self.computed.len();
            for (from, to) in &self.moves {
                if self.computed.contains(to) {
                    self.computed.insert(*from);
                }
            }
            if self.computed.len() == before {
                break;
            }
        }
        for (at, destinations) in std::mem::take(&mut self.loads) {
            let Some(Action::Load(load)) = instructions.get_mut(at).map(|instruction| &mut instruction.action) else {
                continue;
            };
            for (index, destination) in destinations.iter().enumerate() {
                let computed = destination.is_some_and(|register| self.computed.contains(&register));
                if !computed {
                    load.operation.copied.add(index);
                }
            }
            self.loaded.push((at, destinations.into_iter().flatten().collect()));
        }
    }
}
