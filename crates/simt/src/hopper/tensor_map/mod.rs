//! Tensor maps: what a tensor in device memory is, and which boxes of it the copy engine moves (PTX ISA, "Tensors"; CUDA driver API,
//! "Tensor Map Object Management").
//!
//! The host describes a tensor ([`TensorMap`]) and gives the kernel the 128 bytes that [`TensorMap::encode`] makes of it: by value, in
//! device memory, or in a constant. Kernels use them unchanged, or change fields with `tensormap.replace`. How a GPU encodes a
//! map is undocumented, so no program may depend on it; the encoding here is the simulator's own (see `encoding`).
//!
//! ```
//! use simt::{Swizzle, TensorElement, TensorMap};
//!
//! let mut memory = simt::Memory::new(1 << 20);
//! let address = memory.allocate(64 * 32 * 2)?;
//! // 32 rows of 64 halves, in boxes of 8 rows and 64 halves.
//! let map = TensorMap { swizzle: Swizzle::Bytes128, ..TensorMap::tiled(TensorElement::F16, address, &[64, 32], &[64, 8]) };
//! let argument: [u8; 128] = map.encode()?;
//! assert_eq!(TensorMap::decode(&argument), Ok(map));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `rules` says which maps are valid, `walk` which bytes a box has and where they are in shared memory, and `machine/hopper/tensor.rs`
//! executes the instructions.
//!
//! Bytes that are not a map, and maps that are not valid, are traps where a copy uses them.

mod encoding;
mod error;
mod rules;
mod text;
mod walk;

use std::borrow::Cow;

pub(crate) use encoding::{is_of_columns, replace};
pub use error::{TensorFault, TensorMapError};
pub(crate) use walk::{Corner, Piece, RowLayout, TensorBox};

/// Bytes of a tensor map.
pub const TENSOR_MAP_BYTES: usize = 128;

/// What a tensor map's address is a multiple of.
pub(crate) const TENSOR_MAP_ALIGN: u64 = 64;

/// The most dimensions of a tensor.
const MOST_DIMENSIONS: usize = 5;

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
    /// The same, with subnormals flushed by reductions.
    Tf32Ftz,
}

impl TensorElement {
    /// All of them, in the order of the codes that `tensormap.replace` has for them.
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

    /// Its name: that of PTX, without dots.
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

/// A tensor, and the boxes of it that the copy engine moves. Lists have the fastest dimension first.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorMap {
    /// The type of the elements.
    pub element: TensorElement,
    /// The first element, in device memory.
    pub address: u64,
    /// Elements in each dimension: there are 1 to 5.
    pub dimensions: Vec<u64>,
    /// Bytes from one element to the next in each dimension but the first, whose elements follow each other.
    pub strides: Vec<u64>,
    /// How a box is walked, and how large it is.
    pub traversal: Traversal,
    /// Every how many elements of each dimension one is moved. The first counts in interleaved layouts alone.
    pub element_strides: Vec<u32>,
    /// Whether channels are in slices.
    pub interleave: Interleave,
    /// How shared memory is swizzled.
    pub swizzle: Swizzle,
    /// How much L2 fetches at once: a hint.
    pub promotion: L2Promotion,
    /// What elements outside the tensor are in shared memory.
    pub fill: Fill,
}

/// How a box is walked, and how large it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Traversal {
    /// `.tile`: as the tensor.
    Tiled {
        /// Elements that it extends over in each dimension.
        box_dimensions: Vec<u32>,
    },
    /// `.im2col`: pixels in a column. The first dimension of the tensor is that of channels, the last that of images.
    ImageToColumn {
        /// For each dimension of an image, where the box begins: elements from the image's beginning.
        lower: Vec<i32>,
        /// Where it ends: elements from the image's end.
        upper: Vec<i32>,
        /// Elements of each pixel.
        channels: u32,
        /// Pixels, in as many images as it takes.
        pixels: u32,
    },
}

/// Layouts whose channels are in slices, each with all pixels of the image: NC/8DHWC8 and NC/16DHWC16 for elements of two bytes.
///
/// No manual says what the dimensions of such a map are, and an H200 does (2026-11-21): from the first, columns, lines and planes of an image, as
/// far as there are any, then slices, then images. The first counts in slices, of which the elements are no dimension.
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

/// How pieces of 16 bytes change places in shared memory, so that those beneath each other are in different banks: the number of a
/// piece in its line of 128 bytes is combined (exclusive or) with the lowest bits of the line's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// They do not.
    #[default]
    None,
    /// Within 32 bytes.
    Bytes32,
    /// Within 64 bytes.
    Bytes64,
    /// Within 128 bytes.
    Bytes128,
}

/// How much L2 fetches from DRAM at once: a hint, which changes nothing here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum L2Promotion {
    #[default]
    None,
    Bytes64,
    Bytes128,
    Bytes256,
}

/// What elements outside the tensor are in shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Zero.
    #[default]
    Zero,
    /// A NaN that says so, and that `fma.oob` knows: each half of a word is 0x7ff7.
    Nan,
}

impl TensorMap {
    /// A tensor without gaps, in boxes of so many elements; all else as a literal has it by default.
    pub fn tiled(element: TensorElement, address: u64, dimensions: &[u64], box_dimensions: &[u32]) -> Self {
        Self::packed(element, address, dimensions, Traversal::Tiled { box_dimensions: box_dimensions.to_vec() })
    }

    /// A tensor without gaps; all else as a literal has it by default.
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

    /// Bytes from the first element to the end of the last, if so many can be.
    pub fn bytes(&self) -> Option<u64> {
        let mut bytes = self.dimensions.first()?.checked_mul(self.pixel_bytes().into())?;
        for (&extent, &stride) in self.dimensions[1..].iter().zip(&self.strides) {
            bytes = bytes.checked_add(extent.checked_sub(1)?.checked_mul(stride)?)?;
        }
        Some(bytes)
    }

    /// Bytes that one step along the first dimension is: an element, or a slice of an interleaved tensor.
    fn pixel_bytes(&self) -> u32 {
        self.interleave.slice_bytes().unwrap_or(self.element.bytes())
    }

    /// The map that moves the same bytes, and whose first dimension is that of elements: an interleaved tensor's slices are one dimension more,
    /// and a box has one slice of channels, whatever the map says.
    fn by_elements(&self) -> Cow<'_, Self> {
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

/// Bytes from one to the next in each dimension but the first, without gaps.
fn packed_strides(first: u32, dimensions: &[u64]) -> Vec<u64> {
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
    /// Bytes of a slice, if there are slices.
    pub fn slice_bytes(self) -> Option<u32> {
        match self {
            Interleave::None => None,
            Interleave::Bytes16 => Some(16),
            Interleave::Bytes32 => Some(32),
        }
    }
}

impl Swizzle {
    /// The bytes within which pieces change places, if they do.
    pub fn span(self) -> Option<u32> {
        match self {
            Swizzle::None => None,
            Swizzle::Bytes32 => Some(32),
            Swizzle::Bytes64 => Some(64),
            Swizzle::Bytes128 => Some(128),
        }
    }
}
