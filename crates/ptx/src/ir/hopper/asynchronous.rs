//! Copies that run beside the thread, and the barriers that count them: `cp.async`, `cp.async.bulk`, `st.async`,
//! `mbarrier` (PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy", "Parallel Synchronization
//! and Communication Instructions: mbarrier").
//!
//! Plain data: `typing/hopper/asynchronous.rs` and `bulk.rs` make it, [`Op`](crate::Op) holds it, `simt` executes
//! it.

use crate::ir::{Address, AtomicOp, Destination, Operand, Predicate, Space, Type};

/// `cp.async`: from global to shared memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AsyncCopy {
    /// In shared memory.
    pub dst: Address,
    /// In global memory.
    pub src: Address,
    /// Bytes that are written: 4, 8 or 16.
    pub bytes: u32,
    /// `.cg`: kept in L2 and not in L1.
    pub at_l2_only: bool,
    /// Bytes that are read; the rest is zeros. `None`: all.
    pub source_bytes: Option<Operand>,
    /// Where true, nothing is read and all is zeros.
    pub ignore_source: Option<Predicate>,
}

/// What an `mbarrier` instruction does to the barrier at an address of shared memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MbarrierAction {
    /// `init`: makes one that waits for `count` arrivals in each phase.
    Initialize {
        /// 1 to 2^20 - 1.
        count: Operand,
    },
    /// `inval`: the address holds no barrier any longer.
    Invalidate,
    /// `expect_tx`: the phase waits for so many bytes more.
    Expect {
        /// Bytes.
        bytes: Operand,
    },
    /// `complete_tx`: so many bytes have come.
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
    /// How many arrive; `None`: one.
    pub count: Option<Operand>,
    /// `.expect_tx`: bytes that the phase waits for besides.
    pub expect: Option<Operand>,
    /// `arrive_drop`: later phases wait for that many fewer.
    pub drops: bool,
    /// `.noComplete`: the phase must not be complete by this.
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
    /// By its parity: the first phase has 0.
    Parity(Operand),
}

/// `cp.async.bulk` and `cp.reduce.async.bulk`: the copy engine moves a run of bytes between global and shared memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BulkCopy {
    /// Where to.
    pub dst: Address,
    /// The state space of that: `Global`, `Shared` or `ClusterShared`.
    pub to: Space,
    /// Where from.
    pub src: Address,
    /// The state space of that: `Global` or `Shared`.
    pub from: Space,
    /// Bytes, a multiple of 16.
    pub bytes: Operand,
    /// The `mbarrier` that counts the bytes, in the same block's memory as `dst`. `None`: instead, wait for the
    /// thread's bulk groups.
    pub barrier: Option<Address>,
    /// `.multicast::cluster`: the blocks of the cluster that get the bytes, a bit for each; each at the place in its memory that
    /// `dst` is in its own block's.
    pub blocks: Option<Operand>,
    /// `cp.reduce`: what becomes of the old and the new value of each element, and the type of these.
    pub reduction: Option<(AtomicOp, Type)>,
}

/// `st.async` and `red.async`: to the shared memory of a block of the cluster, whose `mbarrier` counts the bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct AsyncStore {
    /// The state space of both addresses: `ClusterShared` or `Generic`.
    pub space: Space,
    /// `red.async`: what becomes of the old and the new value.
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
