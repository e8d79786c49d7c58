//! A fault of the program: what happened, which instruction, which thread.

mod message;

use ptx::Space;

use crate::site::{AccessAction, SourcePosition};
use crate::{AccessFaultKind, Finding, FreeFault, TensorFault, TextureFault};

/// A fault that stopped a launch.
///
/// Of several blocks that fault, the one with the lowest index is reported, however many threads ran them. Device
/// memory keeps what was written until then; which blocks above the faulting one had run is left open.
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
    /// Where the instruction comes from in the source program, then the calls that this was inlined through,
    /// innermost first. Empty if the PTX does not say.
    pub source: Vec<SourcePosition>,
    /// The block: x, y, z.
    pub block: [u32; 3],
    /// The thread in its block, of several the one with the lowest index: x, y, z.
    pub thread: [u32; 3],
    /// The warp in its block.
    pub warp: u32,
    /// The lane in its warp.
    pub lane: u32,
    /// What the checks of the launch had found before.
    pub findings: Vec<Finding>,
}

/// Stands for the cluster's barrier where barriers of a block have a number.
pub(crate) const CLUSTER_BARRIER: u32 = 16;

/// Stands there for the place where the first warpgroup of the block waits for its products; those of the others follow.
pub(crate) const WARPGROUP_BARRIER: u32 = 17;

/// All these numbers: a block has eight warpgroups at most.
pub(crate) const BARRIER_NUMBERS: u32 = WARPGROUP_BARRIER + 8;

/// Why some threads never reach a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// They have returned.
    Exited,
    /// They wait at another barrier, or at the same one for another number of threads; 16: that of the cluster.
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

/// Why an `mbarrier` operation cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierFault {
    /// There is no barrier.
    NotInitialized,
    /// A barrier cannot wait for so many arrivals.
    Count {
        /// The requested number.
        count: u32,
    },
    /// More arrivals than the phase waits for, or none.
    Arrivals {
        /// That many.
        arrivals: u32,
        /// As many as it waits for.
        pending: u32,
    },
    /// A barrier cannot wait for so many bytes.
    Bytes {
        /// That many.
        bytes: i64,
    },
    /// An arrival that is not to complete a phase does.
    Completes,
    /// It is in the memory of another block than the bytes that it is to count.
    OtherBlock,
}

/// What stopped a launch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TrapKind {
    /// A read, write or atomic operation at an invalid address.
    Access {
        /// What was to be done.
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
    /// A `free` of what `malloc` did not give, or no longer.
    Free {
        /// The address.
        address: u64,
        /// What is wrong with it.
        fault: FreeFault,
    },
    /// An aligned barrier that only some threads of the warp execute.
    BarrierDivergence {
        /// The barrier; 16: that of the cluster.
        barrier: u32,
        /// A thread that does not execute it.
        missing: [u32; 3],
        /// What it does instead.
        absence: Absence,
    },
    /// A barrier at which threads wait for others that never come.
    BarrierNeverReached {
        /// The barrier.
        barrier: u32,
        /// Threads that have arrived.
        arrived: u32,
        /// Threads that it waits for.
        expected: u32,
        /// A thread that does not come.
        missing: Option<([u32; 3], Absence)>,
    },
    /// A second arrival at the cluster's barrier without a wait after the first, or a wait without an arrival.
    ClusterBarrierOrder {
        /// Whether it was a wait.
        waits: bool,
    },
    /// A `.sync` instruction at which lanes wait for others of their warp that never come.
    WarpNeverConverges {
        /// The lanes named by the instruction.
        members: u32,
        /// Those that do not come.
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
    /// The `trap` instruction, in a kernel that asks for the grid's workspace and was not launched cooperatively.
    NotCooperative,
    /// Blocks that wait for what no block writes: they poll memory that stays as it is.
    NoProgress {
        /// Blocks that wait.
        waiting: u64,
        /// Blocks that have not begun, for lack of room beside these.
        not_begun: u64,
        /// Warp instructions executed since device memory last changed.
        steps: u64,
    },
    /// An `assert` that does not hold.
    Assertion {
        /// What should hold.
        message: String,
        /// The file of the assertion.
        file: String,
        /// The line there.
        line: u32,
        /// The function that says it.
        function: String,
    },
    /// The `brkpt` instruction.
    Breakpoint,
    /// The launch executed as many warp instructions as it may.
    StepLimit {
        /// That many.
        limit: u64,
    },
    /// An instruction on a matrix that only some lanes of a warp execute.
    IncompleteWarp {
        /// The lanes that do not.
        missing: u32,
        /// What the first of them does instead.
        absence: Absence,
    },
    /// A bulk copy whose number of bytes is not a multiple of 16, or exceeds 1048560.
    BulkCopySize {
        /// That number.
        bytes: u32,
    },
    /// An instruction of the four warps of a warpgroup, in one that has fewer.
    IncompleteWarpgroup {
        /// The warps that it has.
        warps: u32,
    },
    /// An operand that must be the same in all lanes of a warp, and is not.
    NotUniform {
        /// Which.
        what: &'static str,
    },
    /// An operation on a barrier in shared memory that cannot be.
    InvalidMbarrier {
        /// The address in shared memory.
        address: u64,
        /// What is wrong.
        fault: MbarrierFault,
    },
    /// A phase of a barrier in shared memory for which all threads of the block wait that can do anything.
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
        /// The most that there may be.
        limit: u32,
    },
    /// More local memory than a thread may have.
    LocalMemory {
        /// Bytes needed.
        needed: u64,
        /// Bytes that there are.
        limit: u64,
    },
    /// An indirect call to an address that is not that of a function it may call.
    InvalidCall {
        /// That address.
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
