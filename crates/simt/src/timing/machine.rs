//! The warps and blocks of the replayed multiprocessor, and why warps wait.

use std::collections::VecDeque;

use super::step::{Copier, Copies, Step, Unit};
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
            (Target::Memory | Target::Texture | Target::Bulk, _) => Self::Memory,
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
    /// Whether it waits for a phase of an mbarrier that others have not joined yet.
    pub at_phase: bool,
    /// Since when its next instruction is the next.
    since: u64,
    why: Why,
    /// When each register is ready, and why it is not before.
    registers: Vec<(u64, Why)>,
    /// Its asynchronous copies, by [`Copier`].
    copies: [Groups; 2],
}

/// When asynchronous copies have been read, and are there.
#[derive(Clone, Copy, Default)]
pub(super) struct Copied {
    pub read: u64,
    pub done: u64,
}

impl Copied {
    fn max(self, other: Self) -> Self {
        Self { read: self.read.max(other.read), done: self.done.max(other.done) }
    }
}

/// Groups of asynchronous copies, the oldest first, and the copies in none.
#[derive(Clone, Default)]
struct Groups {
    groups: VecDeque<Copied>,
    ungrouped: Copied,
}

impl Groups {
    /// When all but so many groups have been read or are there; `None`: all copies.
    fn awaited(&mut self, left: Option<u32>, reads_only: bool) -> u64 {
        let awaited = left.map_or(self.groups.len(), |left| self.groups.len().saturating_sub(left as usize));
        let ungrouped = if left.is_none() { self.ungrouped } else { Copied::default() };
        let all = self.groups.iter().take(awaited).fold(ungrouped, |all, &group| all.max(group));
        if reads_only {
            return all.read;
        }
        self.groups.drain(..awaited);
        all.done
    }
}

/// A phase of an mbarrier.
#[derive(Clone, Copy, Default)]
pub(super) struct Phase {
    /// Arrivals and copies that it still waits for.
    pub left: u32,
    /// When the last of the others is there, and whether it is a copy.
    pub ready: u64,
    pub by_copy: bool,
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
            at_phase: false,
            since: start,
            why: Why::Turn,
            registers: vec![(0, Why::Turn); registers],
            copies: <[Groups; 2]>::default(),
        }
    }

    /// Its next instruction waits for its registers, or for asynchronous copies. A load that is under
    /// way must also end before its destination is written again.
    pub fn wait_for(&mut self, step: &Step) {
        let written = step.writes.iter().map(|&register| self.registers[register as usize]);
        let written = written.filter(|(_, why)| matches!(why, Why::Memory | Why::Shared));
        let read = step.reads.iter().map(|&register| self.registers[register as usize]);
        let copies = match step.copies {
            Copies::Awaits { of, left, reads_only } => self.copies[of as usize].awaited(left, reads_only),
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
    pub fn copy(&mut self, what: Copies, ready: Copied) {
        match what {
            Copies::Begins(of) => {
                let ungrouped = &mut self.copies[of as usize].ungrouped;
                *ungrouped = ungrouped.max(ready);
            }
            Copies::Commits(of) => {
                let Groups { groups, ungrouped } = &mut self.copies[of as usize];
                groups.push_back(std::mem::take(ungrouped));
            }
            Copies::Nothing | Copies::Awaits { .. } => {}
        }
    }

    /// When all its copies by the load-store unit so far are there.
    pub fn copied(&self) -> u64 {
        let Groups { groups, ungrouped } = &self.copies[Copier::Lsu as usize];
        groups.iter().fold(*ungrouped, |all, &group| all.max(group)).done
    }

    /// Makes it wait for these phases, or lets it go on if they are complete.
    pub fn wait_for_phases(&mut self, phases: impl Iterator<Item = Phase>) {
        self.at_phase = false;
        for Phase { left, ready, by_copy } in phases {
            self.at_phase |= left > 0;
            if ready > self.ready {
                (self.ready, self.why) = (ready, if by_copy { Why::Memory } else { Why::Barrier });
            }
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
