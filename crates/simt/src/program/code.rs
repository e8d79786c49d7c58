//! The decoded form of a kernel: what the machine runs.
//!
//! A kernel and all functions that it may call make one list of [`Instruction`]s; a program counter is an index into it.
//! One PTX instruction becomes one of them that is counted, and now and then helpers before or after it that are not.

use std::collections::HashMap;
use std::sync::Arc;

use ptx::{
    AtomicOp, BarrierReduction, Function, Geometry, Handle, Ordering, OutOfRange, Scope, ShuffleMode, Space, Special,
    TensorField, TextureQuery, Type, VoteMode,
};

use super::SystemFunction;
use super::inspection::Inspections;
use super::matrix::Matrix;
use crate::InstructionInfo;
use crate::lanes::{Handler, Operands};
use crate::model::CacheWish;

/// Program counter: the end of the function.
pub(crate) const RETURN: u32 = u32::MAX;
/// Where paths meet that never do.
pub(crate) const NEVER_MEET: u32 = u32::MAX - 1;

/// A decoded kernel.
pub(crate) struct Code {
    pub instructions: Vec<Instruction>,
    /// For each of `instructions`, the index in `places` of the PTX instruction that it comes from.
    pub origins: Vec<u32>,
    /// The PTX instructions of the kernel and the functions that it may call.
    pub places: Arc<[InstructionInfo]>,
    /// Where each of `places` stands in the module.
    pub positions: Vec<(Handle<Function>, u32)>,
    /// The kernel comes first.
    pub functions: Vec<FunctionCode>,
    /// The index in `functions` of a function's handle.
    pub by_handle: HashMap<usize, u32>,
    pub constant_words: Vec<Constant>,
    pub constant_doubles: Vec<Constant>,
    /// Static shared memory of a block, in bytes: where the dynamic part starts.
    pub static_shared: u64,
    /// Number of instructions that access memory.
    pub accesses: u32,
    /// What the sanitizer looks at before some of `instructions`.
    pub inspections: Inspections,
    /// Whether the result depends on the order in which blocks run.
    pub ordered: bool,
}

/// A function in [`Code`].
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionCode {
    pub entry: u32,
    /// Rows of its frame.
    pub words: u32,
    pub doubles: u32,
    pub predicates: u32,
    /// Bytes of local memory of its frame.
    pub local: u64,
    /// First row and number of words of each parameter, in the frame.
    pub parameters: Vec<Rows>,
    /// The same for what it returns.
    pub results: Vec<Rows>,
    /// The names of the registers that may be read before anything wrote them, and of those whose values may be made of such
    /// ones; `None` is the carry flag. Words of `.param` variables are among them.
    pub tracked: Vec<Option<Arc<str>>>,
    /// For each word of each parameter and of each result, its index there; empty if none is tracked.
    pub tracked_parameters: Vec<Vec<Option<u32>>>,
    pub tracked_results: Vec<Vec<Option<u32>>>,
    /// The names of those that nothing writes at all.
    pub never_written: Vec<String>,
    /// The names of the registers that products of a warpgroup hold, and of those that these are moved to and from.
    pub held: Vec<Arc<str>>,
    /// Whether no thread sees what is in its registers when it begins: each is written before it is read, and by the threads
    /// that read it.
    pub needs_no_zeros: bool,
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
    /// A special register that depends on the launch, the block's place in its cluster or the lane alone.
    Special(Special),
    /// So many bytes behind the start of the block's shared memory.
    Shared(u64),
}

/// One step of the machine.
pub(crate) struct Instruction {
    pub action: Action,
    /// The lanes that execute it, as a predicate operand.
    pub guard: u32,
    /// Where to count it: the index of its place, or one past the last for helpers.
    pub counter: u32,
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
    /// Does nothing to registers and memory: prefetches, sleep.
    Nothing,
    /// Orders memory accesses, which the machine makes in order anyway.
    Fence(Fence),
    Branch {
        target: u32,
        meet: u32,
    },
    BranchIndexed(Box<BranchIndexed>),
    Call(Box<Call>),
    /// Calls a function of the device's runtime.
    CallSystem(Box<SystemCall>),
    /// `alloca`: takes local memory, whose address each lane gets.
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
        meet: u32,
    },
    Exit,
    Trap,
    Breakpoint,
    Barrier(Box<Barrier>),
    /// `barrier.cluster`: arrives, or waits.
    ClusterBarrier {
        waits: bool,
        relaxed: bool,
        aligned: bool,
    },
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

/// An address operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    pub space: Space,
    /// The row that addresses start from.
    pub address: u32,
    /// Whether it has 64 bits.
    pub wide: bool,
    /// Whether the frame's local memory is to be added.
    pub frame: bool,
    pub offset: u64,
    /// Which of the [`Code::accesses`] it is.
    pub slot: u32,
}

/// The threads that a fence or a strong operation is for; wider ones are greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Audience {
    Block,
    Cluster,
    #[default]
    All,
}

impl From<Scope> for Audience {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Block => Self::Block,
            Scope::Cluster => Self::Cluster,
            Scope::Device | Scope::System => Self::All,
        }
    }
}

/// A fence: for whom, and of which state spaces it puts the accesses of the generic proxy before those of the async one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence {
    pub audience: Audience,
    pub shared_to_async: bool,
    pub global_to_async: bool,
    /// Whether it puts what wrote tensor maps before what acquires them for copies.
    pub releases_maps: bool,
}

impl Fence {
    /// One between threads alone.
    pub fn of(audience: Audience) -> Self {
        Self { audience, shared_to_async: false, global_to_async: false, releases_maps: false }
    }
}

/// How an access is ordered with others, for the sanitizer: the machine makes all in the order of the program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Order {
    /// Made to be concurrent with others: anything but a plain load or store.
    pub strong: bool,
    /// Volatile.
    pub volatile: bool,
    /// A load of what nothing writes during the launch, as the program says: `ld.global.nc`, `ldu`.
    pub read_only: bool,
    /// Strong for these threads alone.
    pub audience: Audience,
    /// Releases what came before it, to these threads.
    pub releases: Option<Audience>,
}

impl Order {
    pub fn new(ordering: Ordering, scope: Scope) -> Self {
        let releases =
            matches!(ordering, Ordering::Release | Ordering::AcquireRelease | Ordering::SequentiallyConsistent);
        Self {
            strong: ordering != Ordering::Weak,
            volatile: ordering == Ordering::Volatile,
            read_only: false,
            audience: match ordering {
                Ordering::Weak | Ordering::Volatile => Audience::All,
                _ => scope.into(),
            },
            releases: releases.then_some(scope.into()),
        }
    }
}

/// A load: `count` elements of `element` bytes each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub reach: Reach,
    pub element: u32,
    pub count: u32,
    pub rows: [u32; 4],
    /// Whether the destinations have 64 bits.
    pub wide: bool,
    /// Whether narrower values are sign-extended.
    pub signed: bool,
    /// Which caches it goes through, where a model has any.
    pub wish: CacheWish,
    pub order: Order,
    pub copied: Copied,
}

/// What becomes of a value that is loaded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Copied {
    /// The elements that are read only to be stored elsewhere, or not used at all: one bit each.
    pub elements: u8,
    /// Whether the value goes back to where it came from, with some of its bits replaced, and nowhere else.
    pub in_place: bool,
    /// The instruction that stores it as it is, where nothing else uses it: an index in [`Code::places`].
    pub stored_at: Option<u32>,
}

impl Copied {
    /// Whether an element is only copied.
    pub fn has(self, element: u32) -> bool {
        self.elements >> (element & 7) & 1 == 1
    }
}

/// A store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Store {
    pub reach: Reach,
    pub element: u32,
    pub count: u32,
    pub rows: [u32; 4],
    pub order: Order,
}

/// `atom` and `red`.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub reach: Reach,
    pub op: AtomicOp,
    pub ty: Type,
    pub flush: bool,
    pub d: Option<u32>,
    pub a: u32,
    pub b: u32,
    pub order: Order,
    /// Whether it replaces a value that nobody looks at.
    pub overwrites: bool,
    /// Of a vector, `d` and `a` of the elements behind the first.
    pub rest: Box<[(Option<u32>, u32)]>,
}

impl Atomic {
    /// Bytes that a lane accesses.
    pub fn width(&self) -> u32 {
        self.ty.bytes() * (1 + self.rest.len() as u32)
    }

    /// `d` and `a` of each element.
    pub fn elements(&self) -> impl Iterator<Item = (Option<u32>, u32)> {
        std::iter::once((self.d, self.a)).chain(self.rest.iter().copied())
    }
}

/// Where in a texture or surface.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub geometry: Geometry,
    pub layer: Option<u32>,
    /// One for each dimension.
    pub rows: Vec<u32>,
    /// Whether they are integers.
    pub whole: bool,
}

/// Which level of a texture.
#[derive(Clone, Debug)]
pub(crate) enum Level {
    Base,
    At(u32),
    Gradient(Vec<u32>, Vec<u32>),
}

/// `tex`; `tld4` for a component.
#[derive(Clone, Debug)]
pub(crate) struct Fetch {
    pub component: Option<usize>,
    pub ty: Type,
    pub rows: Vec<u32>,
    pub resident: Option<u32>,
    /// A 64-bit row: a handle, or the address of one. So are samplers and surfaces.
    pub texture: u32,
    pub sampler: Option<u32>,
    pub place: Place,
    pub level: Level,
    pub offset: Vec<u32>,
}

/// `txq`, `suq`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    pub what: TextureQuery,
    pub of_surface: bool,
    pub d: u32,
    pub object: u32,
    pub level: Option<u32>,
}

/// What a surface instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SurfaceAction {
    Load,
    Store,
    /// `sust.p`
    StoreFormatted,
    Reduce(AtomicOp),
}

/// `suld`, `sust`, `sured`.
#[derive(Clone, Debug)]
pub(crate) struct SurfaceAccess {
    pub action: SurfaceAction,
    /// Whether the first coordinate counts elements, not bytes.
    pub by_element: bool,
    /// Whether destinations have 64 bits.
    pub wide: bool,
    pub ty: Type,
    pub rows: Vec<u32>,
    pub surface: u32,
    pub place: Place,
    pub outside: OutOfRange,
}

/// Copies that go on while the thread does, and barriers in shared memory.
#[derive(Clone, Debug)]
pub(crate) enum Asynchronous {
    /// `cp.async`.
    Copy(AsyncCopy),
    /// `cp.async.bulk` and `cp.reduce.async.bulk`.
    Bulk(BulkCopy),
    /// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`.
    Tensor(TensorCopy),
    /// `tensormap.replace`; the value is a row, of 64 bits if `wide`.
    ReplaceTensorField { reach: Reach, field: TensorField, wide: bool, value: u32 },
    /// `tensormap.cp_fenceproxy`.
    CopyTensorMap { to: Reach, from: Reach, audience: Audience },
    /// `fence.proxy.tensormap::generic.acquire`.
    AcquireTensorMap { map: Reach, audience: Audience },
    /// `cp.async.bulk.commit_group`.
    CommitBulk,
    /// `cp.async.bulk.wait_group`.
    WaitBulk { groups_left: u32, reads_only: bool },
    /// `st.async` and `red.async`.
    RemoteStore(RemoteStore),
    /// `cp.async.commit_group`.
    Commit,
    /// `cp.async.wait_group` and `wait_all`.
    Wait { groups_left: Option<u32> },
    /// `cp.async.mbarrier.arrive`.
    ArriveAfterCopies { reach: Reach, counted_before: bool },
    /// `mbarrier` on the barrier at an address.
    Mbarrier { reach: Reach, action: MbarrierAction },
}

/// `cp.async`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsyncCopy {
    pub from: Reach,
    pub to: Reach,
    pub bytes: u32,
    /// Whether it goes past L1 (`.cg`).
    pub at_l2_only: bool,
    /// A row that holds the bytes that are read.
    pub source_bytes: u32,
    /// The lanes that read nothing, as a predicate operand.
    pub ignore_source: u32,
}

/// `cp.async.bulk` and `cp.reduce.async.bulk`; the operands are rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BulkCopy {
    pub from: Reach,
    pub to: Reach,
    pub bytes: u32,
    /// `None`: who wants to know waits for the thread's groups.
    pub barrier: Option<Reach>,
    /// The blocks of the cluster that get the bytes.
    pub blocks: Option<u32>,
    pub reduction: Option<(AtomicOp, Type)>,
}

/// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`; the operands are rows.
#[derive(Clone, Debug)]
pub(crate) struct TensorCopy {
    pub map: Reach,
    /// One for each dimension.
    pub coordinates: Vec<u32>,
    /// `.im2col`: one for each dimension of an image, or none.
    pub offsets: Option<Vec<u32>>,
    pub transfer: TensorTransfer,
}

/// Which way a tensor copy goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TensorTransfer {
    Load {
        to: Reach,
        barrier: Reach,
        /// The blocks of the cluster that get the box.
        blocks: Option<u32>,
    },
    Store {
        from: Reach,
        reduction: Option<AtomicOp>,
    },
}

/// `st.async` and `red.async`.
#[derive(Clone, Debug)]
pub(crate) struct RemoteStore {
    pub to: Reach,
    pub barrier: Reach,
    pub op: Option<AtomicOp>,
    /// Of an element.
    pub ty: Type,
    pub rows: Vec<u32>,
}

/// What is done to a barrier in shared memory; the operands are rows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MbarrierAction {
    Initialize { count: u32 },
    Invalidate,
    Expect { bytes: u32 },
    Complete { bytes: u32 },
    Arrive { state: Option<u32>, count: u32, expect: Option<u32>, drops: bool, never_completes: bool },
    TestState { d: u32, state: u32 },
    TestParity { d: u32, parity: u32 },
}

/// `brx.idx`.
#[derive(Clone, Debug)]
pub(crate) struct BranchIndexed {
    pub index: u32,
    pub targets: Vec<u32>,
    pub meet: u32,
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

/// What a call calls.
#[derive(Clone, Debug)]
pub(crate) enum Callee {
    /// An index in [`Code::functions`].
    Direct(u32),
    /// The function whose address a 64-bit row holds.
    Indirect { address: u32, candidates: Vec<u32> },
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
    /// A row of words for the count, else a predicate.
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
