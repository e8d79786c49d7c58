//! What a tensor map says: the tensor, the box, and how its rows are laid out in shared memory.

use std::borrow::Cow;

/// The size of a tensor map.
pub const TENSOR_MAP_BYTES: usize = 128;

/// The alignment of a tensor map.
pub(crate) const TENSOR_MAP_ALIGN: u64 = 64;

/// The most dimensions that a tensor can have.
pub(super) const MOST_DIMENSIONS: usize = 5;

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TensorElement {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    /// f32 whose subnormals are flushed by reductions.
    F32Ftz,
    F64,
    Bf16,
    /// f32 that loads round to tf32.
    Tf32,
    /// `Tf32` whose subnormals are flushed by reductions.
    Tf32Ftz,
}

impl TensorElement {
    /// All types, in the order of their codes in `tensormap.replace`.
    pub const ALL: [Self; 13] = [
        Self::U8,
        Self::U16,
        Self::U32,
        Self::S32,
        Self::U64,
        Self::S64,
        Self::F16,
        Self::F32,
        Self::F32Ftz,
        Self::F64,
        Self::Bf16,
        Self::Tf32,
        Self::Tf32Ftz,
    ];

    /// Its name in PTX, without dots.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::S32 => "s32",
            Self::U64 => "u64",
            Self::S64 => "s64",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F32Ftz => "f32ftz",
            Self::F64 => "f64",
            Self::Bf16 => "bf16",
            Self::Tf32 => "tf32",
            Self::Tf32Ftz => "tf32ftz",
        }
    }

    /// Bytes of an element.
    pub fn bytes(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        !matches!(self, Self::U8 | Self::U16 | Self::U32 | Self::S32 | Self::U64 | Self::S64)
    }
}

/// A tensor, and the boxes of it that the copy engine moves. Lists have the fastest dimension
/// first.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorMap {
    /// The type of the elements.
    pub element: TensorElement,
    /// The first element, in device memory.
    pub address: u64,
    /// Elements in each of 1 to 5 dimensions.
    pub dimensions: Vec<u64>,
    /// Bytes from one element to the next in each dimension but the first, whose elements are
    /// contiguous.
    pub strides: Vec<u64>,
    /// How a box is walked, and its size.
    pub traversal: Traversal,
    /// In each dimension, one of this many elements is moved. The first applies to interleaved
    /// layouts only.
    pub element_strides: Vec<u32>,
    /// Whether channels are stored in slices.
    pub interleave: Interleave,
    /// How shared memory is swizzled.
    pub swizzle: Swizzle,
    /// How much L2 fetches at once: a hint.
    pub promotion: L2Promotion,
    /// What shared memory gets for elements outside the tensor.
    pub fill: Fill,
}

/// How a box is walked, and its size.
#[derive(Clone, Debug, PartialEq)]
pub enum Traversal {
    /// `.tile`: a box of the tensor's shape.
    Tiled {
        /// The extent of the box in each dimension, in elements.
        box_dimensions: Vec<u32>,
    },
    /// `.im2col`: pixels in a column. The tensor's first dimension is channels, its last is images.
    ImageToColumn {
        /// Where the box begins in each dimension of an image, relative to the image's start.
        lower: Vec<i32>,
        /// Where it ends, relative to the image's end.
        upper: Vec<i32>,
        /// Channels of each pixel.
        channels: u32,
        /// Pixels of a column, which may span several images.
        pixels: u32,
    },
}

/// Layouts whose channels are stored in slices, each with all pixels of the image: NC/8DHWC8 and
/// NC/16DHWC16 for two-byte elements.
///
/// No manual documents the dimensions of such a map. On an H200 (2026-11-21) they are, from the
/// first: columns, lines and planes of an image, as many as it has, then slices, then images. The
/// first stride counts slices: the elements of a slice are not a dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interleave {
    /// None.
    #[default]
    None,
    /// Slices of 16 bytes.
    Bytes16,
    /// Slices of 32 bytes.
    Bytes32,
}

/// How pieces of 16 bytes are permuted in shared memory, so that a column of them is spread over
/// different banks: a piece's number in its line of 128 bytes is xored with the low bits of the
/// line's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// No swizzle.
    #[default]
    None,
    /// Within 32 bytes.
    Bytes32,
    /// Within 64 bytes.
    Bytes64,
    /// Within 128 bytes.
    Bytes128,
}

/// How much L2 fetches from DRAM at once: a hint without effect in the simulator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum L2Promotion {
    #[default]
    None,
    Bytes64,
    Bytes128,
    Bytes256,
}

/// What shared memory gets for elements outside the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Zero.
    #[default]
    Zero,
    /// The NaN that `fma.oob` recognises: each half of a word is 0x7ff7.
    Nan,
}

impl TensorMap {
    /// A gapless tensor in tiled boxes; all other fields have their defaults.
    pub fn tiled(element: TensorElement, address: u64, dimensions: &[u64], box_dimensions: &[u32]) -> Self {
        Self::packed(element, address, dimensions, Traversal::Tiled { box_dimensions: box_dimensions.to_vec() })
    }

    /// A gapless tensor; all other fields have their defaults.
    pub fn packed(element: TensorElement, address: u64, dimensions: &[u64], traversal: Traversal) -> Self {
        Self {
            element,
            address,
            dimensions: dimensions.to_vec(),
            strides: packed_strides(element.bytes(), dimensions),
            traversal,
            element_strides: vec![1; dimensions.len()],
            interleave: Interleave::None,
            swizzle: Swizzle::None,
            promotion: L2Promotion::None,
            fill: Fill::Zero,
        }
    }

    /// Bytes from the first element to the end of the last; `None` on overflow.
    pub fn bytes(&self) -> Option<u64> {
        let mut bytes = self.dimensions.first()?.checked_mul(self.pixel_bytes().into())?;
        for (&extent, &stride) in self.dimensions[1..].iter().zip(&self.strides) {
            bytes = bytes.checked_add(extent.checked_sub(1)?.checked_mul(stride)?)?;
        }
        Some(bytes)
    }

    /// Bytes of one step along the first dimension: an element, or a slice of an interleaved
    /// tensor.
    pub(super) fn pixel_bytes(&self) -> u32 {
        self.interleave.slice_bytes().unwrap_or(self.element.bytes())
    }

    /// The map that moves the same bytes with elements as its first dimension: the slices of an
    /// interleaved tensor become one more dimension, and a box has one slice of channels, whatever
    /// the map says.
    pub(super) fn by_elements(&self) -> Cow<'_, Self> {
        let Some(slice) = self.interleave.slice_bytes() else { return Cow::Borrowed(self) };
        fn behind<T: Clone>(first: T, others: &[T]) -> Vec<T> {
            std::iter::once(first).chain(others.iter().cloned()).collect()
        }
        let elements = slice / self.element.bytes();
        let traversal = match &self.traversal {
            Traversal::Tiled { box_dimensions } => {
                let mut box_dimensions = behind(elements, box_dimensions);
                box_dimensions[self.rank() - 1] = 1;
                Traversal::Tiled { box_dimensions }
            }
            Traversal::ImageToColumn { lower, upper, pixels, .. } => Traversal::ImageToColumn {
                lower: lower.clone(),
                upper: upper.clone(),
                channels: elements,
                pixels: *pixels,
            },
        };
        Cow::Owned(Self {
            dimensions: behind(elements.into(), &self.dimensions),
            strides: behind(slice.into(), &self.strides),
            element_strides: behind(1, &self.element_strides),
            traversal,
            ..self.clone()
        })
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.dimensions.len()
    }
}

/// The strides of a gapless tensor, in each dimension but the first.
pub(super) fn packed_strides(first: u32, dimensions: &[u64]) -> Vec<u64> {
    let sizes = dimensions.iter().scan(u64::from(first), |stride, &extent| {
        *stride = stride.saturating_mul(extent);
        Some(*stride)
    });
    sizes.take(dimensions.len().saturating_sub(1)).collect()
}

impl Traversal {
    /// The name of the mode in PTX.
    pub fn name(&self) -> &'static str {
        match self {
            Traversal::Tiled { .. } => ".tile",
            Traversal::ImageToColumn { .. } => ".im2col",
        }
    }
}

impl Interleave {
    /// The bytes of a slice, if channels are in slices.
    pub fn slice_bytes(self) -> Option<u32> {
        match self {
            Interleave::None => None,
            Interleave::Bytes16 => Some(16),
            Interleave::Bytes32 => Some(32),
        }
    }
}

impl Swizzle {
    /// The bytes within which pieces are permuted, if they are.
    pub fn span(self) -> Option<u32> {
        match self {
            Swizzle::None => None,
            Swizzle::Bytes32 => Some(32),
            Swizzle::Bytes64 => Some(64),
            Swizzle::Bytes128 => Some(128),
        }
    }
}
