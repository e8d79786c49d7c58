//! The decoded form of a kernel: what the machine runs. A type with the name of one in [`ptx`] is
//! its decoded form.
//!
//! A kernel and all functions that it may call form one list of [`Instruction`]s; a program counter
//! is an index into it. A PTX instruction becomes one that is counted, and sometimes helpers before
//! or after it that are not.

use std::collections::HashMap;
use std::sync::Arc;

use ptx::{AtomicOp, BarrierReduction, Function, Handle, ShuffleMode, Special, Type, VoteMode};

use super::access::{Atomic, Fence, Load, Store};
use super::asynchronous::Asynchronous;
use super::inspection::Inspections;
use super::matrix::Matrix;
use super::registers::PlaceRegisters;
use super::system::SystemFunction;
use super::texture::{Fetch, Query, SurfaceAccess};
use crate::instruction::InstructionInfo;
use crate::lanes::{ALWAYS, Handler, Operands};

/// Program counter: the end of the function.
pub(crate) const RETURN: u32 = u32::MAX;
/// The point of reconvergence of paths that never reconverge.
pub(crate) const NEVER_JOINS: u32 = u32::MAX - 1;

/// How many numbered barriers a block has.
pub(crate) const NUMBERED_BARRIERS: u32 = 16;

/// The number of the cluster's barrier, next to the numbered barriers of a block.
pub(crate) const CLUSTER_BARRIER: u32 = NUMBERED_BARRIERS;

/// The number for the place where the first warpgroup of a block waits for its products; the other
/// warpgroups follow.
pub(crate) const WARPGROUP_BARRIER: u32 = 17;

/// The count of all these numbers: a block has at most eight warpgroups.
pub(crate) const BARRIER_NUMBERS: u32 = WARPGROUP_BARRIER + 8;

/// A decoded kernel.
pub(crate) struct Code {
    pub instructions: Vec<Instruction>,
    /// For each of `instructions`, the index in `places` of the PTX instruction that it comes from.
    pub origins: Vec<u32>,
    /// The PTX instructions of the kernel and the functions that it may call.
    pub places: Arc<[InstructionInfo]>,
    /// The position of each of `places` in the module.
    pub positions: Vec<(Handle<Function>, u32)>,
    /// What each of `places` reads and writes.
    pub registers: PlaceRegisters,
    /// The functions, with the kernel first.
    pub functions: Vec<FunctionCode>,
    /// The index in `functions` of a function's handle.
    pub by_handle: HashMap<usize, u32>,
    pub constant_words: Vec<Constant>,
    pub constant_doubles: Vec<Constant>,
    /// Static shared memory of a block, in bytes: where the dynamic part starts.
    pub static_shared: u64,
    /// Number of accesses whose shape is followed.
    pub accesses: u32,
    /// For the places of loads and stores whose values the hardware moves with another one's
    /// request: the place of that one.
    pub served: HashMap<u32, u32>,
    /// What the sanitizer inspects before some of `instructions`.
    pub inspections: Inspections,
    /// Whether the result depends on the order in which blocks run.
    pub ordered: bool,
    /// Whether it may change memory.
    pub writes: bool,
}

impl Code {
    /// The first program counter after this one that is not straight code: neither accesses nor
    /// arithmetic, or `join_at`. Lanes may execute what is before it separately.
    pub fn straight_until(&self, pc: u32, join_at: u32) -> u32 {
        let mut end = pc + 1;
        while end != join_at
            && self.instructions.get(end as usize).is_some_and(|step| {
                matches!(
                    step.action,
                    Action::Lanes(..)
                        | Action::Special { .. }
                        | Action::LocalAddress { .. }
                        | Action::Spill { .. }
                        | Action::Load(_)
                        | Action::Store(_)
                        | Action::Atomic(_)
                        | Action::Fetch(_)
                        | Action::Query(_)
                        | Action::Surface(_)
                        | Action::Nothing
                        | Action::Fence(_)
                )
            })
        {
            end += 1;
        }
        end
    }

    /// Whether it has asynchronous operations: other warps may go on after any step.
    pub fn has_asynchronous(&self) -> bool {
        self.instructions
            .iter()
            .any(|step| matches!(step.action, Action::Asynchronous(_) | Action::ClusterBarrier(_) | Action::Matrix(_)))
    }

    /// Whether lanes at this program counter only have to exit.
    pub fn ends_at(&self, pc: u32) -> bool {
        let next = self.instructions.get(pc as usize).map(|next| (&next.action, next.guard));
        matches!(next, None | Some((Action::Return { .. } | Action::Exit, ALWAYS)))
    }
}

/// A function in [`Code`].
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionCode {
    pub entry: u32,
    /// The rows of its frame.
    pub words: u32,
    pub doubles: u32,
    pub predicates: u32,
    /// Bytes of local memory of its frame.
    pub local: u64,
    /// First row and number of words of each parameter, in the frame.
    pub parameters: Vec<Rows>,
    /// First row and number of words of each result.
    pub results: Vec<Rows>,
    /// The names of the tracked registers: those that may be read before they are written, and
    /// those that may be computed from them. `None` is the carry flag. Words of `.param` variables
    /// are included.
    pub tracked: Vec<Option<Arc<str>>>,
    /// For each of these, whether it matters only for values loaded from unwritten memory.
    pub tracked_of_loaded: Vec<bool>,
    /// For each word of each parameter, its index in `tracked`, and the same for results; empty if
    /// none is tracked.
    pub tracked_parameters: Vec<Vec<Option<u32>>>,
    pub tracked_results: Vec<Vec<Option<u32>>>,
    /// The names of those that no instruction writes.
    pub never_written: Vec<String>,
    /// The names of the registers that products of a warpgroup hold, and of those that they are
    /// moved to and from.
    pub held: Vec<Arc<str>>,
    /// Whether no thread can see the initial contents of its registers: each is written before it
    /// is read, by the threads that read it.
    pub needs_no_zeros: bool,
}

/// The halves of the address of the grid's workspace: `%envreg1` and `%envreg2`. This is CUDA's
/// convention.
pub(crate) const WORKSPACE_HIGH: u8 = 1;
pub(crate) const WORKSPACE_LOW: u8 = 2;
/// Bytes of the workspace: its size, and the barrier that `grid.sync()` counts in.
pub(crate) const WORKSPACE_BYTES: u32 = 8;

impl Code {
    /// Local memory of a thread, in bytes, where each function is called once.
    pub fn local_bytes(&self) -> u64 {
        self.functions.iter().map(|function| function.local.next_multiple_of(16)).sum()
    }

    /// Whether any reachable instruction reads the workspace's address.
    pub fn reads_workspace(&self) -> bool {
        let is_half = |constant: &Constant| {
            matches!(constant, Constant::Special(Special::Environment(WORKSPACE_HIGH | WORKSPACE_LOW)))
        };
        self.constant_words.iter().any(is_half)
    }

    /// Whether any reachable instruction reads where the system's shared memory is.
    pub fn reads_reserved_shared(&self) -> bool {
        use Special::{ReservedShared0, ReservedShared1, ReservedSharedBegin, ReservedSharedEnd};
        let is_place = |constant: &Constant| {
            let Constant::Special(special) = constant else { return false };
            matches!(special, ReservedSharedBegin | ReservedSharedEnd | ReservedShared0 | ReservedShared1)
        };
        self.constant_words.iter().any(is_place)
    }
}

/// Consecutive rows of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    pub first: u32,
    pub count: u32,
}

/// A row that is the same in all warps of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    /// The same value in each lane.
    Bits(u64),
    /// Bytes of the kernel's parameters.
    Parameter { offset: u64, bytes: u32, signed: bool },
    /// A special register that depends only on the launch, the block's rank in its cluster, or the
    /// lane.
    Special(Special),
    /// This many bytes after the start of the block's shared memory.
    Shared(u64),
}

/// One step of the machine.
pub(crate) struct Instruction {
    pub action: Action,
    /// The lanes that execute it, as a predicate operand.
    pub guard: u32,
    /// The index in `places` of its PTX instruction, whose counters it adds to, or one past the
    /// last for helpers.
    pub place: u32,
}

/// What a step does.
pub(crate) enum Action {
    /// Arithmetic in each lane.
    Lanes(Handler, Operands),
    /// Reads a special register of the warp or the block.
    Special {
        which: Special,
        d: u32,
        wide: bool,
    },
    /// The address of a variable in the frame's local memory.
    LocalAddress {
        d: u32,
        wide: bool,
        offset: u64,
    },
    /// Stores rows of words to the frame's local memory.
    Spill {
        rows: Rows,
        offset: u64,
    },
    Load(Box<Load>),
    Store(Box<Store>),
    Atomic(Box<Atomic>),
    Fetch(Box<Fetch>),
    Query(Box<Query>),
    Surface(Box<SurfaceAccess>),
    Matrix(Box<Matrix>),
    Asynchronous(Box<Asynchronous>),
    /// No effect on registers or memory: prefetches, sleep.
    Nothing,
    /// A fence. The machine executes accesses in order anyway.
    Fence(Fence),
    Branch {
        target: u32,
        join_at: u32,
    },
    BranchIndexed(Box<BranchIndexed>),
    Call(Box<Call>),
    /// Calls a function of the device's runtime.
    CallSystem(Box<SystemCall>),
    /// `alloca`: allocates local memory and returns its address to each lane.
    Allocate {
        d: u32,
        wide: bool,
        size: u32,
        align: u32,
    },
    /// `stacksave`.
    SaveStack {
        d: u32,
        wide: bool,
    },
    /// `stackrestore`.
    RestoreStack {
        source: u32,
        wide: bool,
    },
    Return {
        join_at: u32,
    },
    Exit,
    Trap,
    Breakpoint,
    Barrier(Box<Barrier>),
    /// `barrier.cluster`: arrives, or waits.
    ClusterBarrier(ClusterBarrier),
    WarpBarrier {
        members: u32,
    },
    Shuffle(Box<Shuffle>),
    Vote {
        mode: VoteMode,
        d: u32,
        predicate: u32,
        members: u32,
    },
    Match(Box<Match>),
    WarpReduce {
        op: AtomicOp,
        ty: Type,
        d: u32,
        source: u32,
        members: u32,
    },
    ActiveMask {
        d: u32,
    },
    Elect {
        d: u32,
        leader: u32,
        members: u32,
    },
}

/// `brx.idx`.
#[derive(Clone, Debug)]
pub(crate) struct BranchIndexed {
    pub index: u32,
    pub targets: Vec<u32>,
    pub join_at: u32,
}

/// `call`.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub callee: Callee,
    /// Rows of the caller.
    pub arguments: Vec<Rows>,
    pub results: Vec<Rows>,
}

/// A call of a function of the device's runtime.
#[derive(Clone, Debug)]
pub(crate) struct SystemCall {
    pub function: SystemFunction,
    /// Rows of the caller.
    pub arguments: Vec<Rows>,
    pub results: Vec<Rows>,
}

/// The callee.
#[derive(Clone, Debug)]
pub(crate) enum Callee {
    /// An index in [`Code::functions`].
    Direct(u32),
    /// The function whose address a 64-bit row holds.
    Indirect { address: u32, candidates: Vec<u32> },
}

/// `barrier.cluster`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusterBarrier {
    pub waits: bool,
    pub relaxed: bool,
    pub aligned: bool,
}

/// `bar` and `barrier`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    /// A row.
    pub number: u32,
    /// `None`: all threads of the block.
    pub threads: Option<u32>,
    pub aligned: bool,
    pub waits: bool,
    pub reduction: Option<Reduction>,
}

/// `bar.red`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduction {
    pub op: BarrierReduction,
    /// A row of words for a count, otherwise a predicate.
    pub d: u32,
    pub predicate: u32,
}

/// `shfl`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shuffle {
    pub mode: ShuffleMode,
    pub d: u32,
    pub in_range: u32,
    pub source: u32,
    pub lane: u32,
    pub clamp: u32,
    pub members: u32,
}

/// `match`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    pub all: bool,
    pub wide: bool,
    pub d: u32,
    pub all_equal: u32,
    pub source: u32,
    pub members: u32,
}
