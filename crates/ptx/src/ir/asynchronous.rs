//! Copies that run beside the thread, and the barriers that count them: `cp.async`,
//! `cp.async.bulk`, `st.async`, `mbarrier` (PTX ISA, "Data Movement and Conversion Instructions:
//! Asynchronous copy", "Parallel Synchronization and Communication Instructions: mbarrier").

use super::memory::AtomicOp;
use super::memory::Scope;
use super::operand::{Address, Destination, Operand};
use super::tensor::{TensorCopy, TensorField};
use super::types::{Space, Type};

/// Operations of copies, and of the barriers that count them.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields as in `Op`
pub enum AsyncOp {
    /// `cp.async`: 4, 8 or 16 bytes from global to shared memory.
    Copy(Box<AsyncCopy>),
    /// `cp.async.commit_group`: the thread's copies since the last commit become a group.
    Commit,
    /// `cp.async.wait_group`: waits until at most `groups_left` groups are pending. `None` is
    /// `wait_all`, which includes copies in no group.
    Wait { groups_left: Option<u32> },
    /// `cp.async.mbarrier.arrive`: arrives once the thread's copies so far are complete. `.noinc`:
    /// the barrier's count already includes this arrival.
    ArriveAfterCopies { space: Space, counted_before: bool, address: Address },
    /// `cp.async.bulk` and `cp.reduce.async.bulk`.
    BulkCopy(Box<BulkCopy>),
    /// `cp.async.bulk.commit_group`.
    CommitBulk,
    /// `cp.async.bulk.wait_group`: waits until at most `groups_left` groups are pending; `.read`:
    /// until their sources have been read.
    WaitForBulk { groups_left: u32, reads_only: bool },
    /// `st.async` and `red.async`: into the shared memory of a block of the cluster, whose mbarrier
    /// counts the bytes.
    Store(Box<AsyncStore>),
    /// `cp.async.bulk.tensor` and its prefetch and reduction: a box of a tensor map.
    TensorCopy(Box<TensorCopy>),
    /// `tensormap.replace`: changes a field of the tensor map at an address in `Global`, `Shared`
    /// or `Generic`.
    ReplaceTensorField { space: Space, address: Address, field: TensorField, value: Operand },
    /// `tensormap.cp_fenceproxy`: the warp copies a tensor map from shared to global memory, and
    /// releases it.
    CopyTensorMap { dst: Address, src: Address, scope: Scope },
    /// `mbarrier`: counts and bytes are `u32`, a state is `b64`, the result of a test a predicate.
    /// Only arrivals and counts of bytes reach the barrier of another block.
    Mbarrier { action: MbarrierAction, space: Space, address: Address },
    /// `mbarrier.pending_count`: the pending count, `u32`, in a barrier's state, `b64`.
    PendingCount { dst: Destination, state: Operand },
}

/// `cp.async`: from global to shared memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AsyncCopy {
    /// The destination, in shared memory.
    pub dst: Address,
    /// The source, in global memory.
    pub src: Address,
    /// Bytes written: 4, 8 or 16.
    pub bytes: u32,
    /// `.cg`: cached in L2 and not in L1.
    pub at_l2_only: bool,
    /// Bytes read; the rest is zeros. `None`: all.
    pub source_bytes: Option<Operand>,
    /// If true, nothing is read and zeros are written.
    pub ignore_source: Option<Operand>,
}

/// What an `mbarrier` instruction does to the barrier at an address of shared memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MbarrierAction {
    /// `init`: creates a barrier that expects `count` arrivals in each phase.
    Initialize {
        /// 1 to 2^20 - 1.
        count: Operand,
    },
    /// `inval`: the address no longer holds a barrier.
    Invalidate,
    /// `expect_tx`: the phase waits for this many more bytes.
    Expect {
        /// Bytes.
        bytes: Operand,
    },
    /// `complete_tx`: this many bytes have arrived.
    Complete {
        /// Bytes.
        bytes: Operand,
    },
    /// `arrive`, `arrive_drop`.
    Arrive(MbarrierArrival),
    /// `test_wait`, `try_wait`: whether a phase is complete.
    Test(MbarrierTest),
}

/// `mbarrier.arrive`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MbarrierArrival {
    /// The state of the barrier before.
    pub state: Destination,
    /// The number of arrivals; `None`: one.
    pub count: Option<Operand>,
    /// `.expect_tx`: bytes that the phase also waits for.
    pub expect: Option<Operand>,
    /// `arrive_drop`: later phases expect that many fewer arrivals.
    pub drops: bool,
    /// `.noComplete`: this arrival must not complete the phase.
    pub never_completes: bool,
}

/// `mbarrier.test_wait` and `try_wait`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MbarrierTest {
    /// Whether the phase is complete.
    pub dst: Destination,
    /// Which phase.
    pub phase: MbarrierPhase,
}

/// How a phase is named.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MbarrierPhase {
    /// By the state that an arrival returned.
    State(Operand),
    /// By its parity; that of the first phase is 0.
    Parity(Operand),
}

/// `cp.async.bulk` and `cp.reduce.async.bulk`: the copy engine moves a run of bytes between global
/// and shared memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BulkCopy {
    /// Where to.
    pub dst: Address,
    /// The state space of `dst`: `Global`, `Shared` or `ClusterShared`.
    pub to: Space,
    /// Where from.
    pub src: Address,
    /// The state space of `src`: `Global` or `Shared`.
    pub from: Space,
    /// Bytes, a multiple of 16.
    pub bytes: Operand,
    /// The `mbarrier` that counts the bytes, in the same block's memory as `dst`. `None`: the
    /// thread's bulk groups track the copy instead.
    pub barrier: Option<Address>,
    /// `.multicast::cluster`: the blocks of the cluster that get the bytes, a bit for each. Each
    /// gets them at the offset that `dst` has in its own block.
    pub blocks: Option<Operand>,
    /// `cp.reduce`: the operation that combines the old and the new value of each element, and the
    /// element type.
    pub reduction: Option<(AtomicOp, Type)>,
}

/// `st.async` and `red.async`: to the shared memory of a block of the cluster, whose `mbarrier`
/// counts the bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct AsyncStore {
    /// The state space of both addresses: `ClusterShared` or `Generic`.
    pub space: Space,
    /// `red.async`: the operation that combines the old and the new value.
    pub op: Option<AtomicOp>,
    /// The type of an element.
    pub ty: Type,
    /// The elements.
    pub srcs: Vec<Operand>,
    /// Where to.
    pub address: Address,
    /// The `mbarrier`.
    pub barrier: Address,
}
