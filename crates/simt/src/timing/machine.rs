//! The warps and blocks of the replayed multiprocessor, and why warps wait.

use std::collections::VecDeque;

use super::step::{Copies, Step, Unit};
use super::trace::Target;

/// Why a warp waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// A result of arithmetic.
    Arithmetic,
    /// A load from global, local or texture memory, or an atomic operation.
    Memory,
    /// Shared memory, or a shuffle.
    Shared,
    /// A constant.
    Constant,
    /// Other warps of the block, at a barrier.
    Barrier,
    /// Its turn: the scheduler issued another warp, or the unit was taken.
    Turn,
    /// Room in the queue of the load-store unit.
    Queue,
    /// A branch.
    Branch,
}

impl Why {
    /// All of them, in order.
    pub const ALL: [Self; 8] = [
        Self::Arithmetic,
        Self::Memory,
        Self::Shared,
        Self::Constant,
        Self::Barrier,
        Self::Turn,
        Self::Queue,
        Self::Branch,
    ];

    /// What warps wait for, in a few words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arithmetic => "results of arithmetic",
            Self::Memory => "loads from memory",
            Self::Shared => "shared memory",
            Self::Constant => "constants",
            Self::Barrier => "barriers",
            Self::Turn => "their turn to issue",
            Self::Queue => "room in the load-store unit",
            Self::Branch => "branches",
        }
    }

    /// Why a warp waits for what an instruction writes.
    pub(super) fn of(target: Target, unit: Unit) -> Self {
        match (target, unit) {
            (Target::Memory | Target::Texture, _) => Self::Memory,
            (Target::Shared, _) | (_, Unit::Shuffle) => Self::Shared,
            (Target::Constant, _) => Self::Constant,
            _ => Self::Arithmetic,
        }
    }
}

/// A block.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// The index of its block slot on the multiprocessor.
    pub slot: usize,
    pub warps: usize,
    /// Warps that have not ended.
    pub left: usize,
    /// Those of them that wait at a barrier.
    pub waiting: usize,
}

/// A warp.
pub(super) struct Warp {
    pub block: usize,
    /// Whose trace it follows, which warp of that, and the position of its next instruction.
    pub trace: usize,
    pub index: usize,
    pub at: usize,
    /// When its next instruction can issue, as far as the warp is concerned.
    pub ready: u64,
    pub at_barrier: bool,
    /// Since when its next instruction is the next.
    since: u64,
    why: Why,
    /// When each register is ready, and why it is not before.
    registers: Vec<(u64, Why)>,
    /// When its groups of asynchronous copies are there, the oldest first, and the copies in none.
    groups: VecDeque<u64>,
    ungrouped: u64,
}

impl Warp {
    pub fn new(block: usize, trace: usize, index: usize, start: u64, registers: usize) -> Self {
        Self {
            block,
            trace,
            index,
            at: 0,
            ready: start,
            at_barrier: false,
            since: start,
            why: Why::Turn,
            registers: vec![(0, Why::Turn); registers],
            groups: VecDeque::new(),
            ungrouped: 0,
        }
    }

    /// Its next instruction waits for its registers, or for asynchronous copies. A load that is under
    /// way must also end before its destination is written again.
    pub fn wait_for(&mut self, step: &Step) {
        let written = step.writes.iter().map(|&register| self.registers[register as usize]);
        let written = written.filter(|(_, why)| matches!(why, Why::Memory | Why::Shared));
        let read = step.reads.iter().map(|&register| self.registers[register as usize]);
        let copies = match step.copies {
            Copies::Awaits(left) => {
                let awaited = left.map_or(self.groups.len(), |left| self.groups.len().saturating_sub(left as usize));
                let ungrouped = if left.is_none() { self.ungrouped } else { 0 };
                self.groups.drain(..awaited).max().unwrap_or(0).max(ungrouped)
            }
            _ => 0,
        };
        for (ready, why) in read.chain(written).chain([(copies, Why::Memory)]) {
            if ready > self.ready {
                (self.ready, self.why) = (ready, why);
            }
        }
    }

    /// A register will be ready.
    pub fn set(&mut self, register: u32, ready: u64, why: Why) {
        self.registers[register as usize] = (ready, why);
    }

    /// It begins a copy that will be there at this time, or closes a group of copies.
    pub fn copy(&mut self, what: Copies, ready: u64) {
        match what {
            Copies::Begins => self.ungrouped = self.ungrouped.max(ready),
            Copies::Commits => self.groups.push_back(std::mem::take(&mut self.ungrouped)),
            Copies::Nothing | Copies::Awaits(_) => {}
        }
    }

    /// The instruction has issued; the next can at this time.
    pub fn go_on(&mut self, ready: u64) {
        self.at += 1;
        (self.ready, self.since, self.why) = (ready, ready, Why::Turn);
    }

    /// All warps of its block have reached the barrier.
    pub fn leave_barrier(&mut self, go: u64) {
        self.at_barrier = false;
        if go > self.ready {
            (self.ready, self.why) = (go, Why::Barrier);
        }
    }

    /// How long it has waited for what its instruction needs, and then to issue; and why.
    pub fn waited(&self, now: u64, accesses_memory: bool) -> ([f64; 2], [Why; 2]) {
        let first = self.ready.saturating_sub(self.since);
        let then = now.saturating_sub(self.ready.max(self.since));
        let queue = if accesses_memory { Why::Queue } else { Why::Turn };
        ([first as f64, then as f64], [self.why, queue])
    }

    /// It has ended.
    pub fn end(&mut self) {
        self.at_barrier = false;
        self.registers = Vec::new();
    }
}
