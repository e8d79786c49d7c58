//! An instruction as the replay sees it: its unit, its cost, the registers it waits for, and what
//! decides its position in the compiler's order.

use ptx::{AsyncOp, MbarrierAction, Op, Ordering, Space, TensorTransfer};

use crate::program::{Facts, Lasts, Motion, Next, facts};

/// A unit of a multiprocessor, of which each scheduler has its part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Unit {
    #[default]
    Fp32,
    Add,
    Integer,
    Multiply,
    Special,
    Double,
    Memory,
    Shuffle,
    Texture,
    Branch,
    Barrier,
    Other,
}

/// The number of [`Unit`]s.
pub(super) const UNITS: usize = Unit::Other as usize + 1;

/// What an instruction costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub unit: Unit,
    /// How many instructions the hardware executes for it; 0: it vanishes into others.
    pub slots: u32,
    /// Cycles for which it occupies its scheduler's unit.
    pub cycles: u32,
    /// Cycles until its result is ready. Accesses to memory add theirs when they are replayed.
    pub latency: u32,
}

impl Cost {
    pub const fn new(unit: Unit, slots: u32, cycles: u32, latency: u32) -> Self {
        Self { unit, slots, cycles, latency }
    }
}

/// Who does asynchronous copies, which threads put into groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copier {
    /// The load-store unit (`cp.async`).
    Lsu,
    /// The copy engine, to global memory.
    Engine,
}

/// What an instruction does with the asynchronous copies of its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    Nothing,
    Begins(Copier),
    /// Those begun since the last group become a group.
    Commits(Copier),
    /// Until so many groups are left; `None`: until all copies are done. Only until they have been
    /// read, if `reads_only`.
    Awaits {
        of: Copier,
        left: Option<u32>,
        reads_only: bool,
    },
}

/// What an instruction does at an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meeting {
    Nothing,
    /// It arrives.
    Joins,
    /// It arrives when the warp's copies so far are there.
    JoinsAfterCopies,
    /// The bytes that it copies will arrive.
    Copies,
    /// It waits for a phase.
    Waits,
}

impl Meeting {
    /// Of this instruction.
    pub fn of(op: &Op) -> Self {
        let Op::Async(op) = op else { return Self::Nothing };
        match op {
            AsyncOp::Mbarrier { action: MbarrierAction::Arrive(_) | MbarrierAction::Complete { .. }, .. } => {
                Self::Joins
            }
            AsyncOp::Mbarrier { action: MbarrierAction::Test(_), .. } => Self::Waits,
            AsyncOp::ArriveAfterCopies { .. } => Self::JoinsAfterCopies,
            AsyncOp::BulkCopy(copy) if copy.barrier.is_some() => Self::Copies,
            AsyncOp::TensorCopy(copy) if matches!(copy.transfer, TensorTransfer::Load { .. }) => Self::Copies,
            _ => Self::Nothing,
        }
    }
}

impl Copies {
    /// Of this instruction.
    pub fn of(op: &Op) -> Self {
        match op {
            Op::Async(AsyncOp::Copy(_)) => Self::Begins(Copier::Lsu),
            Op::Async(AsyncOp::Commit) => Self::Commits(Copier::Lsu),
            Op::Async(AsyncOp::Wait { groups_left }) => {
                Self::Awaits { of: Copier::Lsu, left: *groups_left, reads_only: false }
            }
            Op::Async(AsyncOp::BulkCopy(_) | AsyncOp::TensorCopy(_)) if is_bulk_store(op) => {
                Self::Begins(Copier::Engine)
            }
            Op::Async(AsyncOp::CommitBulk) => Self::Commits(Copier::Engine),
            Op::Async(AsyncOp::WaitForBulk { groups_left, reads_only }) => {
                Self::Awaits { of: Copier::Engine, left: Some(*groups_left), reads_only: *reads_only }
            }
            _ => Self::Nothing,
        }
    }
}

/// Whether an instruction copies from shared to global memory by the copy engine.
pub(super) fn is_bulk_store(op: &Op) -> bool {
    match op {
        Op::Async(AsyncOp::BulkCopy(copy)) => copy.to == Space::Global,
        Op::Async(AsyncOp::TensorCopy(copy)) => matches!(copy.transfer, TensorTransfer::Store { .. }),
        _ => false,
    }
}

/// An instruction of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub cost: Cost,
    pub copies: Copies,
    pub meeting: Meeting,
    /// The registers that it waits for, as indices in the scoreboard.
    pub reads: Box<[u32]>,
    pub writes: Box<[u32]>,
    /// Its basic block: the places from the first to one past the last.
    pub block: (u32, u32),
    pub scheduled: Scheduled,
    /// Cycles more if the instruction before it reads none of its registers.
    pub third_register: u32,
    /// Whether it ends a basic block but not the compiler's straight run.
    pub goes_on: bool,
    /// A branch that the compiler replaces by predicates.
    pub vanishes: bool,
    /// Whether a warp waits for others of its block here.
    pub is_barrier: bool,
    /// The instruction's place; in the copies of an unrolled loop, that of the loop itself.
    pub origin: u32,
}

/// The memories that an access may be to, one bit each: shared, local, and that of the device.
/// Accesses to different ones are never to the same address, so `ptxas` moves loads from global
/// memory ahead of stores to shared memory.
fn memories(op: &Op) -> u8 {
    const SHARED: u8 = 1;
    const LOCAL: u8 = 2;
    const DEVICE: u8 = 4;
    let (Op::Load { space, ordering, .. } | Op::Store { space, ordering, .. }) = op else { return ALL_MEMORIES };
    match space {
        _ if *ordering != Ordering::Weak => ALL_MEMORIES,
        Space::Shared => SHARED,
        Space::Local => LOCAL,
        Space::Global => DEVICE,
        _ => ALL_MEMORIES,
    }
}

/// The number of memories, and all of them.
pub(super) const MEMORIES: usize = 3;
const ALL_MEMORIES: u8 = (1 << MEMORIES) - 1;

/// Cycles that the compiler takes an instruction to last.
fn cycles(lasts: Lasts, latency: u32) -> u32 {
    match lasts {
        Lasts::ItsLatency => latency,
        Lasts::SharedLoad => 25,
        Lasts::ConstantLoad => 10,
        Lasts::MemoryLoad => 500,
    }
}

/// What the order depends on, of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scheduled {
    pub motion: Motion,
    /// The memories that it may access, one bit each.
    pub memories: u8,
    /// What the compiler takes it to last.
    pub lasts: u32,
    /// Whether it leaves its basic block, so that all others stay ahead of it.
    pub leaves: bool,
}

impl Scheduled {
    /// Of this instruction, whose result is ready after `latency` cycles.
    pub fn of(op: &Op, latency: u32) -> Self {
        let Facts { motion, next, lasts, .. } = facts(op);
        let leaves = !matches!(next, Next::Following);
        Self { motion, memories: memories(op), lasts: cycles(lasts, latency), leaves }
    }
}
