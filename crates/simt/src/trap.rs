//! Traps: faults of the program that stop a launch. What happened, at which instruction, in which
//! thread. The machine creates them; `message` has their texts.

mod message;

use ptx::Space;

use crate::Finding;
use crate::address::{AccessFaultKind, FreeFault};
use crate::memory::MbarrierFault;
use crate::site::{AccessAction, SourcePosition, own_frame};
use crate::tensor_map::TensorFault;
use crate::texture::TextureFault;

/// A fault that stopped a launch.
///
/// If several blocks fault, the one with the lowest index is reported, whatever the number of host
/// threads. Device memory keeps what was written until then; which blocks above the faulting one
/// had run is unspecified.
#[derive(Clone, Debug, PartialEq)]
pub struct Trap {
    /// What happened.
    pub kind: TrapKind,
    /// The kernel that was launched.
    pub kernel: String,
    /// The function that the instruction is in: the kernel, or one that it called.
    pub function: String,
    /// The text of the instruction.
    pub instruction: String,
    /// The name of the PTX module.
    pub module: String,
    /// The instruction's line in the PTX, from 1.
    pub ptx_line: u32,
    /// The instruction's position in the source program, then the calls through which it was
    /// inlined, innermost first. Empty if the PTX does not say.
    pub source: Vec<SourcePosition>,
    /// The block: x, y, z.
    pub block: [u32; 3],
    /// The thread in its block, the one with the lowest index if several fault: x, y, z.
    pub thread: [u32; 3],
    /// The warp in its block.
    pub warp: u32,
    /// The lane in its warp.
    pub lane: u32,
    /// What the checks of the launch had found until then.
    pub findings: Vec<Finding>,
}

impl TrapKind {
    /// Its name in machine-readable output.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Access { fault, .. } => fault.name(),
            Self::Free { fault, .. } => fault.name(),
            Self::BarrierDivergence { .. } => "barrier_divergence",
            Self::BarrierNeverReached { .. } => "barrier_never_reached",
            Self::WarpNeverConverges { .. } => "warp_never_converges",
            Self::PhaseNeverComplete { .. } => "phase_never_complete",
            Self::InvalidMbarrier { .. } => "invalid_mbarrier",
            Self::ClusterBarrierOrder { .. } => "cluster_barrier_order",
            Self::InvalidBarrier { .. } => "invalid_barrier",
            Self::Texture(_) => "texture",
            Self::Tensor(_) => "tensor",
            Self::TrapInstruction => "trap",
            Self::NotCooperative => "not_cooperative",
            Self::NoProgress { .. } => "no_progress",
            Self::EndlessLoop => "endless_loop",
            Self::Assertion { .. } => "assertion",
            Self::Breakpoint => "breakpoint",
            Self::Cancelled => "cancelled",
            Self::StepLimit { .. } => "step_limit",
            Self::FaultLimit { .. } => "fault_limit",
            Self::IncompleteWarp { .. } => "incomplete_warp",
            Self::BulkCopySize { .. } => "bulk_copy_size",
            Self::IncompleteWarpgroup { .. } => "incomplete_warpgroup",
            Self::NotUniform { .. } => "not_uniform",
            Self::CallDepth { .. } => "call_depth",
            Self::LocalMemory { .. } => "local_memory",
            Self::InvalidCall { .. } => "invalid_call",
            Self::InvalidBranch { .. } => "invalid_branch",
        }
    }
}

impl Trap {
    /// The position in the reader's own code: see [`own_frame`].
    pub fn position(&self) -> Option<&SourcePosition> {
        self.source.get(own_frame(&self.source)?)
    }
}

/// Why some threads never reach a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// They have returned.
    Exited,
    /// They wait at another barrier, or at the same one for another number of threads. 16 is the
    /// cluster's barrier.
    AtBarrier(u32),
    /// They wait for other lanes of their warp.
    InWarp,
    /// They wait for a phase of a barrier in shared memory.
    AtPhase,
    /// The block has no such threads.
    NoThread,
    /// They are on another path of the program.
    Diverged,
}

/// What stopped a launch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TrapKind {
    /// A read, write or atomic operation at an invalid address.
    Access {
        /// What the access does.
        action: AccessAction,
        /// The state space that the address was resolved to.
        space: Space,
        /// The address, as the program has it.
        address: u64,
        /// Bytes that the thread accesses.
        width: u32,
        /// What is wrong.
        fault: AccessFaultKind,
    },
    /// A `free` of memory that did not come from `malloc`, or was freed before.
    Free {
        /// The address.
        address: u64,
        /// What is wrong with it.
        fault: FreeFault,
    },
    /// An aligned barrier that only some threads of the warp execute.
    BarrierDivergence {
        /// The barrier; 16 is the cluster's.
        barrier: u32,
        /// A thread that does not execute it.
        missing: [u32; 3],
        /// What it does instead.
        absence: Absence,
    },
    /// A barrier at which threads wait for others that never arrive.
    BarrierNeverReached {
        /// The barrier.
        barrier: u32,
        /// Threads that have arrived.
        arrived: u32,
        /// Threads that it waits for.
        expected: u32,
        /// A thread that does not arrive.
        missing: Option<([u32; 3], Absence)>,
    },
    /// A second arrival at the cluster's barrier without a wait after the first, or a wait without
    /// an arrival.
    ClusterBarrierOrder {
        /// Whether it was a wait.
        waits: bool,
    },
    /// A `.sync` instruction at which lanes wait for others of their warp that never arrive.
    WarpNeverConverges {
        /// The lanes named by the instruction.
        members: u32,
        /// The lanes that do not arrive.
        missing: u32,
        /// What they do instead.
        absence: Absence,
    },
    /// A barrier that does not exist, or a number of threads that it cannot wait for.
    InvalidBarrier {
        /// The barrier.
        barrier: u32,
        /// The number of threads, if the instruction names one.
        threads: Option<u32>,
    },
    /// A texture or surface instruction that cannot be executed.
    Texture(TextureFault),
    /// An instruction on a tensor that cannot be executed.
    Tensor(TensorFault),
    /// The `trap` instruction: a Rust panic, usually.
    TrapInstruction,
    /// The `trap` instruction, in a kernel that asks for the grid's workspace and was not launched
    /// cooperatively.
    NotCooperative,
    /// Blocks that poll memory that no block changes any more.
    NoProgress {
        /// Blocks that wait.
        waiting: u64,
        /// Blocks that have not begun, because these leave no room.
        not_begun: u64,
        /// Warp instructions executed since device memory last changed.
        steps: u64,
    },
    /// A loop that changes nothing, and so never ends: it accesses no memory, and an iteration
    /// leaves all registers as they were.
    EndlessLoop,
    /// An `assert` failed.
    Assertion {
        /// The asserted condition.
        message: String,
        /// The file of the assertion.
        file: String,
        /// The line of the assertion.
        line: u32,
        /// The function of the assertion.
        function: String,
    },
    /// The `brkpt` instruction.
    Breakpoint,
    /// [`Launch::cancel`](crate::Launch::cancel) was set.
    Cancelled,
    /// The launch reached its limit of warp instructions.
    StepLimit {
        /// The limit.
        limit: u64,
    },
    /// The sanitizer has found more faults than the launch may have.
    FaultLimit {
        /// The limit.
        limit: u64,
    },
    /// An instruction on a matrix that only some lanes of a warp execute.
    IncompleteWarp {
        /// The lanes that do not execute it.
        missing: u32,
        /// What the first of them does instead.
        absence: Absence,
    },
    /// A bulk copy whose number of bytes is not a multiple of 16, or exceeds 1048560.
    BulkCopySize {
        /// The number of bytes.
        bytes: u32,
    },
    /// An instruction for the four warps of a warpgroup, in one with fewer warps.
    IncompleteWarpgroup {
        /// The warps that it has.
        warps: u32,
    },
    /// An operand that must be the same in all lanes of a warp but is not.
    NotUniform {
        /// The operand.
        what: &'static str,
    },
    /// An invalid operation on an mbarrier.
    InvalidMbarrier {
        /// The address in shared memory.
        address: u64,
        /// What is wrong.
        fault: MbarrierFault,
    },
    /// All threads of the block that could proceed wait for a phase of an mbarrier.
    PhaseNeverComplete {
        /// The address in shared memory.
        address: u64,
        /// Arrivals that it waits for.
        arrivals: u32,
        /// Bytes that it waits for.
        bytes: i32,
    },
    /// Calls nested too deeply.
    CallDepth {
        /// The deepest nesting allowed.
        limit: u32,
    },
    /// More local memory than a thread may have.
    LocalMemory {
        /// Bytes needed.
        needed: u64,
        /// Bytes available.
        limit: u64,
    },
    /// An indirect call to an address that is not one of its possible callees.
    InvalidCall {
        /// The address.
        address: u64,
    },
    /// `brx.idx` with an index beyond its targets.
    InvalidBranch {
        /// The index.
        index: u32,
        /// The number of targets.
        targets: u32,
    },
}
