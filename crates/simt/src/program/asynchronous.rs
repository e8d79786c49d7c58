//! The decoded form of asynchronous copies and of mbarriers.

use ptx::{AtomicOp, TensorField, Type};

use crate::program::access::{AddressOperand, SyncScope};

/// Copies that run beside the threads, and mbarriers.
#[derive(Clone, Debug)]
pub(crate) enum Asynchronous {
    /// `cp.async`.
    Copy(AsyncCopy),
    /// `cp.async.bulk` and `cp.reduce.async.bulk`.
    Bulk(BulkCopy),
    /// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`.
    Tensor(TensorCopy),
    /// `tensormap.replace`; the value is a row, of 64 bits if `wide`.
    ReplaceTensorField { reach: AddressOperand, field: TensorField, wide: bool, value: u32 },
    /// `tensormap.cp_fenceproxy`.
    CopyTensorMap { to: AddressOperand, from: AddressOperand, scope: SyncScope },
    /// `fence.proxy.tensormap::generic.acquire`.
    AcquireTensorMap { map: AddressOperand, scope: SyncScope },
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
    ArriveAfterCopies { reach: AddressOperand, counted_before: bool },
    /// An `mbarrier` instruction.
    Mbarrier { reach: AddressOperand, action: MbarrierAction },
}

/// `cp.async`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsyncCopy {
    pub from: AddressOperand,
    pub to: AddressOperand,
    pub bytes: u32,
    /// Whether it goes past L1 (`.cg`).
    pub at_l2_only: bool,
    /// A row with the number of bytes to read.
    pub source_bytes: u32,
    /// The lanes that read nothing, as a predicate operand.
    pub ignore_source: u32,
}

/// `cp.async.bulk` and `cp.reduce.async.bulk`; the operands are rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BulkCopy {
    pub from: AddressOperand,
    pub to: AddressOperand,
    pub bytes: u32,
    /// `None`: the thread waits for its groups instead.
    pub barrier: Option<AddressOperand>,
    /// The blocks of the cluster that receive the bytes.
    pub blocks: Option<u32>,
    pub reduction: Option<(AtomicOp, Type)>,
}

/// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`; the operands are rows.
#[derive(Clone, Debug)]
pub(crate) struct TensorCopy {
    pub map: AddressOperand,
    /// One for each dimension.
    pub coordinates: Vec<u32>,
    /// `.im2col`: one for each dimension of an image, or none.
    pub offsets: Option<Vec<u32>>,
    pub transfer: TensorTransfer,
}

/// The direction of a tensor copy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TensorTransfer {
    Load {
        to: AddressOperand,
        barrier: AddressOperand,
        /// The blocks of the cluster that receive the box.
        blocks: Option<u32>,
    },
    Store {
        from: AddressOperand,
        reduction: Option<AtomicOp>,
    },
}

/// `st.async` and `red.async`.
#[derive(Clone, Debug)]
pub(crate) struct RemoteStore {
    pub to: AddressOperand,
    pub barrier: AddressOperand,
    pub op: Option<AtomicOp>,
    /// The type of an element.
    pub ty: Type,
    pub rows: Vec<u32>,
}

/// What is done to an mbarrier; the operands are rows.
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
