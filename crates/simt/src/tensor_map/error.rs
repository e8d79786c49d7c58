//! Errors of tensor maps: why a map is invalid ([`TensorMapError`], from hosts' calls), and why an
//! instruction cannot use one ([`TensorFault`], part of a trap).

use ptx::AtomicOp;

use super::map::{TENSOR_MAP_ALIGN, TensorElement};

/// Why a tensor map is invalid. The rules are those of `cuTensorMapEncodeTiled` and
/// `cuTensorMapEncodeIm2col`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // each message says what its fields are
pub enum TensorMapError {
    #[error("a tensor has 1 to 5 dimensions, not {0}")]
    Rank(usize),
    #[error("an interleaved tensor has 3 to 5 dimensions, not {0}")]
    InterleavedRank(usize),
    #[error("a tensor of images has 3 to 5 dimensions, not {0}")]
    ImageRank(usize),
    #[error("a tensor of {rank} dimensions needs {expected} {what}, not {given}")]
    Count { what: &'static str, rank: usize, expected: usize, given: usize },
    #[error("the tensor's address {address:#x} is not a multiple of {align}")]
    Address { address: u64, align: u64 },
    #[error("dimension {index} of the tensor has {extent} elements: 1 to 2147483648 are allowed")]
    Dimension { index: usize, extent: u64 },
    #[error("the stride of dimension {index} is {stride} bytes: multiples of {align} below 2^40 are allowed")]
    Stride { index: usize, stride: u64, align: u64 },
    #[error("dimension {index} of the box has {extent} elements: 1 to 256 are allowed")]
    BoxDimension { index: usize, extent: u32 },
    #[error("a row of the box has {bytes} bytes: multiples of 16 are allowed")]
    BoxRow { bytes: u32 },
    #[error("a row of the box has {bytes} bytes, too long for a swizzle of {span} bytes")]
    BoxSwizzle { bytes: u32, span: u32 },
    #[error("the element stride of dimension {index} is {stride}: 1 to 8 are allowed")]
    ElementStride { index: usize, stride: u32 },
    #[error("an interleave of 32 bytes needs a swizzle of 32 bytes")]
    InterleavedSwizzle,
    #[error("elements of type {0} are not floats and cannot be filled with NaN")]
    NanFill(&'static str),
    #[error("a corner of the box at {corner} in dimension {index} of the image: {low} to {high} are allowed")]
    Corner { index: usize, corner: i32, low: i32, high: i32 },
    #[error("from its lower to its upper corner the box has no pixel in dimension {index} of the image")]
    EmptyBox { index: usize },
    #[error("{0} channels per pixel: 1 to 256 are allowed")]
    Channels(u32),
    #[error("{0} pixels per column: 1 to 1024 are allowed")]
    Pixels(u32),
}

/// Why an instruction cannot use a tensor map.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorFault {
    /// The bytes are not a tensor map.
    #[error("the 128 bytes are not a tensor map: the host encodes one, or tensormap.replace builds one from zeros")]
    NoMap,
    /// The map's address is misaligned.
    #[error("a tensor map at {address:#x}, which is not a multiple of {}", TENSOR_MAP_ALIGN)]
    MapAlignment {
        /// The address.
        address: u64,
    },
    /// The map is in a state space that copies cannot read maps from.
    #[error("a tensor map in {space} memory: copies take it from global or constant memory, or a kernel's parameter")]
    MapSpace {
        /// The state space's name.
        space: &'static str,
    },
    /// `tensormap.replace` on a map in another state space.
    #[error(
        "a tensor map in {space} memory: tensormap.replace changes those in global memory and in the block's shared memory"
    )]
    ReplaceSpace {
        /// The state space's name.
        space: &'static str,
    },
    /// The map is invalid.
    #[error("invalid tensor map: {0}")]
    Invalid(TensorMapError),
    /// The instruction has another number of dimensions than the map.
    #[error("an instruction for {instruction} dimensions, but a tensor map of {map}")]
    OtherRank {
        /// What the instruction has.
        instruction: usize,
        /// What the map has.
        map: usize,
    },
    /// The instruction has another mode (`.tile`, `.im2col`) than the map.
    #[error("an instruction with {instruction}, but a tensor map for {map}")]
    OtherMode {
        /// What the instruction has.
        instruction: &'static str,
        /// What the map has.
        map: &'static str,
    },
    /// The box's address in shared memory is misaligned.
    #[error("a tensor box at shared address {address:#x}, which is not a multiple of 128")]
    SharedAlignment {
        /// The address.
        address: u64,
    },
    /// The box is larger than any shared memory.
    #[error("a tensor box of {bytes} bytes: larger than any block's shared memory")]
    BoxSize {
        /// The size of the box.
        bytes: u64,
    },
    /// A store that begins before the tensor.
    #[error("a store to a tensor at coordinate {coordinate} of dimension {index}: only loads may begin before 0")]
    NegativeCoordinate {
        /// The dimension.
        index: usize,
        /// The coordinate.
        coordinate: i32,
    },
    /// A box that does not begin on a multiple of 16 bytes.
    #[error(
        "a box that begins at element {coordinate} of {bytes} bytes each: in the first dimension a box must begin on a multiple of 16 bytes"
    )]
    BetweenPieces {
        /// The first coordinate.
        coordinate: i32,
        /// Bytes of an element.
        bytes: u32,
    },
    /// An `.im2col` store that reaches outside the images.
    #[error("an im2col store that reaches outside the images: only loads may do that")]
    StoreCorners,
    /// A column that begins outside the map's box.
    #[error("a column at {coordinate} in dimension {index} of the image, which is outside the box of the tensor map")]
    OutsideBox {
        /// The dimension.
        index: usize,
        /// The coordinate.
        coordinate: i32,
    },
    /// An offset of `.im2col` that is too large.
    #[error("an im2col offset of {offset} in dimension {index} of the image: 0 to {high} are allowed")]
    Offset {
        /// The dimension.
        index: usize,
        /// The offset.
        offset: u32,
        /// The largest that is allowed.
        high: u32,
    },
    /// A reduction that does not exist for the map's elements.
    #[error("no tensor reduction `{}` exists for elements of type {}", .op.name(), .element.name())]
    Reduction {
        /// The operation.
        op: AtomicOp,
        /// The elements.
        element: TensorElement,
    },
}
