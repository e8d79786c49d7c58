//! An instruction as the replay sees it: its unit, what it costs, what it waits for, and what its
//! order depends on.

use ptx::{CacheOperator, Op, Ordering, Space};

/// How long the compiler takes a load from memory to last, when it decides what to put first.
const LOAD: u32 = 500;

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

/// An instruction of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub cost: Cost,
    /// The registers that it waits for, as indices in the scoreboard.
    pub reads: Box<[u32]>,
    pub writes: Box<[u32]>,
    /// Its basic block: the places from the first to one past the last.
    pub block: (u32, u32),
    pub scheduled: Scheduled,
    /// Whether it ends a basic block but not the compiler's straight run.
    pub goes_on: bool,
    /// A branch that the compiler replaces by predicates.
    pub vanishes: bool,
    /// Whether a warp waits for others of its block here.
    pub is_barrier: bool,
    /// The instruction's place; in the copies of an unrolled loop, that of the loop itself.
    pub origin: u32,
}

/// How an instruction is ordered among accesses to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// No access, or a read of memory that nothing writes.
    Free,
    /// Stays behind the last write.
    Read,
    /// Stays behind all earlier accesses.
    Write,
}

fn access(op: &Op) -> Access {
    match op {
        Op::Load { ordering, cache, .. } if *ordering != Ordering::Weak || *cache == CacheOperator::Volatile => {
            Access::Write
        }
        Op::Load { space: Space::Parameter | Space::Constant, .. } => Access::Free,
        Op::Load { non_coherent, .. } => {
            if *non_coherent {
                Access::Free
            } else {
                Access::Read
            }
        }
        Op::LoadMatrix { .. } | Op::LoadFragment { .. } => Access::Read,
        Op::TextureFetch(_) => Access::Free,
        Op::Store { .. }
        | Op::Atomic { .. }
        | Op::AtomicVector { .. }
        | Op::Fence { .. }
        | Op::Barrier { .. }
        | Op::ClusterBarrier { .. }
        | Op::WarpBarrier { .. }
        | Op::Shuffle { .. }
        | Op::Vote { .. }
        | Op::Match { .. }
        | Op::ActiveMask { .. }
        | Op::Elect { .. }
        | Op::WarpReduce { .. }
        | Op::CopyAsync(_)
        | Op::CommitCopies
        | Op::WaitForCopies { .. }
        | Op::ArriveAfterCopies { .. }
        | Op::SurfaceLoad { .. }
        | Op::SurfaceStore { .. }
        | Op::SurfaceReduce { .. }
        | Op::StoreMatrix { .. }
        | Op::StoreFragment { .. }
        | Op::Mbarrier { .. }
        | Op::Call { .. } => Access::Write,
        _ => Access::Free,
    }
}

/// What the compiler takes an instruction to last.
fn expected(op: &Op, latency: u32) -> u32 {
    match op {
        Op::Load { space: Space::Shared, .. } => 25,
        Op::Load { space: Space::Parameter | Space::Constant, .. } => 10,
        Op::Load { .. } | Op::TextureFetch(_) | Op::SurfaceLoad { .. } | Op::Atomic { .. } => LOAD,
        _ => latency,
    }
}

/// What the order depends on, of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scheduled {
    pub access: Access,
    /// What the compiler takes it to last.
    pub lasts: u32,
    /// Whether it leaves its basic block, so that all others stay ahead of it.
    pub leaves: bool,
}

impl Scheduled {
    /// Of this instruction, whose result is ready after `latency` cycles.
    pub fn of(op: &Op, latency: u32) -> Self {
        let leaves = matches!(
            op,
            Op::Branch { .. } | Op::BranchIndexed { .. } | Op::Return | Op::Exit | Op::Trap | Op::Call { .. }
        );
        Self { access: access(op), lasts: expected(op, latency), leaves }
    }
}
