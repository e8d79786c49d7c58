//! Copies of boxes of tensors, and the maps that describe the tensors: `cp.async.bulk.tensor`,
//! `cp.reduce.async.bulk.tensor`, `tensormap` (PTX ISA, "Tensors", "Data Movement and Conversion
//! Instructions: Tensor copy", "tensormap.replace", "tensormap.cp_fenceproxy").

use super::memory::AtomicOp;
use super::operand::{Address, Operand};
use super::types::Space;

/// `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`: the copy engine moves a box of a
/// tensor between global and shared memory.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorCopy {
    /// The generic address of the tensor map, which describes the tensor and the size of a box.
    pub map: Address,
    /// Where the box starts in each dimension, the fastest first: 1 to 5 signed 32-bit integers.
    pub coordinates: Vec<Operand>,
    /// How the box is traversed.
    pub mode: TensorMode,
    /// The direction.
    pub transfer: TensorTransfer,
}

/// How the elements of a box follow each other.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorMode {
    /// `.tile`: as in the tensor.
    Tile,
    /// `.im2col`: pixels in a column. The offsets, 16-bit integers, are added to the coordinates
    /// between the first and the last; `.im2col_no_offs` has none.
    ImageToColumn {
        /// One for each dimension of an image, or empty.
        offsets: Vec<Operand>,
    },
}

/// The direction of a tensor copy.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorTransfer {
    /// To shared memory.
    Load {
        /// Where to.
        dst: Address,
        /// The state space of `dst` and of the barrier: `Shared` or `ClusterShared`.
        space: Space,
        /// The `mbarrier` that counts the bytes.
        barrier: Address,
        /// `.multicast::cluster`: the blocks of the cluster that get the box, a bit for each.
        blocks: Option<Operand>,
    },
    /// From the block's shared memory. Bulk groups track its completion.
    Store {
        /// Where from.
        src: Address,
        /// `cp.reduce`: the operation that combines the old and the new value of each element. The
        /// map has the element type.
        reduction: Option<AtomicOp>,
    },
}

/// What `tensormap.replace` replaces in a tensor map. A number is a dimension; the fastest is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is PTX's own
pub enum TensorField {
    GlobalAddress,
    /// One less than the rank.
    Rank,
    BoxDimension(u8),
    GlobalDimension(u8),
    /// The stride of the next higher dimension, in bytes.
    GlobalStride(u8),
    ElementStride(u8),
    /// PTX's code for the type, not the driver's.
    ElementType,
    InterleaveLayout,
    SwizzleMode,
    FillMode,
}

/// The proxies between which a fence orders accesses, in addition to those of the generic proxy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FenceProxies {
    /// `fence.proxy.async`: the generic and the async proxy, in this state space (`Generic`: in
    /// all).
    Async(Space),
    /// `fence.proxy.tensormap::generic.release`: writes by the generic proxy come before a later
    /// acquire of a tensor map.
    ReleaseTensorMaps,
    /// `fence.proxy.tensormap::generic.acquire`: copies see the tensor map at this address as it
    /// was released.
    AcquireTensorMap(Address),
}
