//! Copies of boxes of tensors, and the maps that describe the tensors: `cp.async.bulk.tensor`,
//! `cp.reduce.async.bulk.tensor`, `tensormap` (PTX ISA, "Tensors", "Data Movement and Conversion Instructions:
//! Tensor copy", "tensormap.replace", "tensormap.cp_fenceproxy").
//!
//! Plain data: `typing/hopper/tensor.rs` makes it, [`Op`](crate::Op) holds it, `simt` executes it.

use crate::ir::{Address, AtomicOp, Operand, Space};

/// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`: the copy engine moves a box of a tensor between global and shared memory.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorCopy {
    /// The tensor map, which says where the tensor is and how large a box is: a generic address.
    pub map: Address,
    /// Where the box starts, for each dimension, the fastest first: 32-bit signed integers. There are 1 to 5.
    pub coordinates: Vec<Operand>,
    /// How the box is walked.
    pub mode: TensorMode,
    /// Which way.
    pub transfer: TensorTransfer,
}

/// How the elements of a box follow each other.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorMode {
    /// `.tile`: as in the tensor.
    Tile,
    /// `.im2col`: pixels in a column. The offsets, 16-bit integers, are added to the coordinates between the first and the last;
    /// `.im2col_no_offs` has none.
    ImageToColumn {
        /// One for each dimension of an image, or none.
        offsets: Vec<Operand>,
    },
}

/// Which way a tensor copy goes.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorTransfer {
    /// To shared memory.
    Load {
        /// Where to.
        dst: Address,
        /// The state space of that and of the barrier: `Shared` or `ClusterShared`.
        space: Space,
        /// The `mbarrier` that counts the bytes.
        barrier: Address,
        /// `.multicast::cluster`: the blocks of the cluster that get the box, a bit for each.
        blocks: Option<Operand>,
    },
    /// From the block's shared memory. Threads wait for its completion by bulk groups.
    Store {
        /// Where from.
        src: Address,
        /// `cp.reduce`: what becomes of the old and the new value of each element, whose type the map says.
        reduction: Option<AtomicOp>,
    },
}

/// What `tensormap.replace` replaces in a tensor map. The number is that of a dimension, the fastest 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is PTX's own
pub enum TensorField {
    GlobalAddress,
    /// One less than the rank.
    Rank,
    BoxDimension(u8),
    GlobalDimension(u8),
    /// Of the dimension above that of the number, in bytes.
    GlobalStride(u8),
    ElementStride(u8),
    /// By PTX's code, not the driver's.
    ElementType,
    InterleaveLayout,
    SwizzleMode,
    FillMode,
}

/// Between which proxies a fence puts accesses in order, beside those of the generic one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FenceProxies {
    /// `fence.proxy.async`: the generic and the async proxy, for this state space (`Generic`: for all).
    Async(Space),
    /// `fence.proxy.tensormap::generic.release`: what the generic proxy wrote comes before what acquires a tensor map.
    ReleaseTensorMaps,
    /// `fence.proxy.tensormap::generic.acquire`: the tensor map at this address is for copies what was released before.
    AcquireTensorMap(Address),
}
