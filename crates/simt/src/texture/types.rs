//! What users say of arrays, textures and samplers, and why they are refused.

use crate::error::MemoryError;

/// The type of a texel's components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ChannelType {
    U8,
    U16,
    U32,
    S8,
    S16,
    S32,
    F16,
    F32,
}

impl ChannelType {
    /// Bytes of a component.
    #[inline]
    pub fn bytes(self) -> u32 {
        match self {
            ChannelType::U8 | ChannelType::S8 => 1,
            ChannelType::U16 | ChannelType::S16 | ChannelType::F16 => 2,
            ChannelType::U32 | ChannelType::S32 | ChannelType::F32 => 4,
        }
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        matches!(self, ChannelType::F16 | ChannelType::F32)
    }
}

/// The format of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TexelFormat {
    /// Components: 1, 2 or 4.
    pub channels: u32,
    /// Their type.
    pub ty: ChannelType,
}

impl TexelFormat {
    /// Bytes of a texel.
    #[inline]
    pub fn bytes(self) -> u32 {
        self.channels * self.ty.bytes()
    }
}

/// The shape of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayShape {
    /// Texels in x.
    pub width: u32,
    /// Texels in y; 0 if it has one dimension.
    pub height: u32,
    /// Texels in z; 0 if it has no third dimension.
    pub depth: u32,
    /// Layers, of one or two dimensions each; 0 if it is not layered.
    pub layers: u32,
    /// Levels of detail (mipmaps): each has half the texels of the previous one in every dimension.
    pub levels: u32,
    /// The format of the texels.
    pub format: TexelFormat,
}

impl ArrayShape {
    /// One texel, one dimension, one level: the defaults for a struct literal.
    pub fn of(format: TexelFormat) -> Self {
        Self { width: 1, height: 0, depth: 0, layers: 0, levels: 1, format }
    }

    /// Dimensions of a layer.
    #[inline]
    pub fn dimensions(&self) -> usize {
        1 + usize::from(self.height > 0) + usize::from(self.depth > 0)
    }

    /// Texels of a level in each dimension.
    #[inline]
    pub fn extent(&self, level: u32) -> [u32; 3] {
        [self.width, self.height, self.depth].map(|texels| (texels >> level.min(31)).max(1))
    }

    /// Bytes of a level, all layers together: x runs fastest, then y, then z or the layer, without
    /// gaps.
    pub fn level_bytes(&self, level: u32) -> u64 {
        let texels = self.extent(level).iter().map(|&n| u64::from(n)).product::<u64>();
        texels * u64::from(self.layers.max(1)) * u64::from(self.format.bytes())
    }

    /// Bytes of a row's texels.
    pub(crate) fn row_bytes(&self, level: u32) -> u64 {
        u64::from(self.extent(level)[0]) * u64::from(self.format.bytes())
    }

    /// Bytes from one row to the next in the simulator's memory, such that every surface access is
    /// aligned.
    #[inline]
    pub(crate) fn pitch(&self, level: u32) -> u64 {
        self.row_bytes(level).next_multiple_of(16)
    }

    /// The offset of a level in the simulator's memory, in bytes.
    pub(crate) fn level_offset(&self, level: u32) -> u64 {
        let rows = |level| self.level_bytes(level) / self.row_bytes(level);
        (0..level.min(self.levels)).map(|level| rows(level) * self.pitch(level)).sum()
    }
}

/// An array of a [`Memory`](crate::Memory).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArrayHandle(pub(crate) u32);

/// What a texture reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureSource {
    /// An array.
    Array(ArrayHandle),
    /// One level of an array, as if it were one of its own.
    Level(ArrayHandle, u32),
    /// Device memory as one dimension, read by integer indices. Reads beyond its ends return zeros.
    Linear {
        /// The first texel.
        address: u64,
        /// The number of texels.
        texels: u32,
        /// Their format.
        format: TexelFormat,
    },
    /// Rows of device memory.
    Pitched {
        /// The first texel.
        address: u64,
        /// Texels of a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Bytes from one row to the next.
        pitch: u64,
        /// The format of the texels.
        format: TexelFormat,
    },
}

/// What coordinates outside the texture read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AddressMode {
    /// The texture repeats. Only for normalised coordinates; otherwise as [`AddressMode::Clamp`].
    Wrap,
    /// The nearest texel.
    #[default]
    Clamp,
    /// The texture repeats, mirrored every other time. Only for normalised coordinates; otherwise
    /// as [`AddressMode::Clamp`].
    Mirror,
    /// The border colour.
    Border,
}

/// How texels are filtered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The nearest texel.
    #[default]
    Point,
    /// A mix of the 2, 4 or 8 nearest ones, with weights of 8 bits of fraction.
    Linear,
}

/// What a fetch from an integer format returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReadMode {
    /// The integers.
    #[default]
    Element,
    /// Floats from 0 to 1 or -1 to 1; for 8-bit and 16-bit integers only.
    NormalizedFloat,
}

/// How a texture is read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    /// What coordinates outside the texture read, in x, y and z.
    pub address_modes: [AddressMode; 3],
    /// The filter within a level.
    pub filter: Filter,
    /// The filter between levels.
    pub level_filter: Filter,
    /// Whether coordinates run from 0 to 1 instead of to the number of texels.
    pub normalized_coordinates: bool,
    /// What integer formats return.
    pub read_mode: ReadMode,
    /// Whether the first three components are converted from sRGB to linear; for unsigned bytes
    /// that are read as floats.
    pub srgb: bool,
    /// What [`AddressMode::Border`] reads.
    pub border: [f32; 4],
    /// Added to the level that is requested.
    pub level_bias: f32,
    /// The range of levels that a fetch may select. (0, 0) is the first level only.
    pub level_range: (f32, f32),
}

/// Why an array, texture or surface is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // each message says what its fields are
pub enum TextureError {
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error("a texel has 1, 2 or 4 components, not {0}")]
    Channels(u32),
    #[error("an array of {0} x {1} x {2} texels and {3} layers: {4}")]
    Shape(u32, u32, u32, u32, &'static str),
    #[error("{given} levels: 1 to {most} are allowed for this size")]
    Levels { given: u32, most: u32 },
    #[error("level {level} of an array that has {levels}")]
    NoLevel { level: u32, levels: u32 },
    #[error("the level has {expected} bytes, but {given} were given")]
    Length { expected: u64, given: u64 },
    #[error("the array was freed")]
    Freed,
    #[error("no object has the handle {0:#x}")]
    NoObject(u64),
    #[error("linear filtering mixes floats: read floats, or integers of 8 and 16 bits as normalised floats")]
    FilterNeedsFloats,
    #[error("only integers of 8 and 16 bits are read as normalised floats")]
    NotNormalizable,
    #[error("sRGB needs unsigned bytes that are read as normalised floats")]
    NotSrgb,
    #[error("an array with several levels is read with normalised coordinates")]
    LevelsNeedNormalized,
    #[error("linear memory is read by integer indices: without a filter or normalised coordinates")]
    LinearMemory,
    #[error("{what} {value} is not a multiple of {align}")]
    Misaligned { what: &'static str, value: u64, align: u64 },
    #[error("rows of {row} bytes do not fit a pitch of {pitch}")]
    Pitch { row: u64, pitch: u64 },
}

/// Why a texture or surface instruction cannot be executed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TextureFault {
    /// The handle does not name an object of this kind.
    #[error("{handle:#x} is not a {what}: it was never created, or was destroyed")]
    NoObject {
        /// `texture`, `sampler` or `surface`.
        what: &'static str,
        /// The handle.
        handle: u64,
    },
    /// The instruction is for an object of another shape.
    #[error("a .{instruction} instruction on an object of {dimensions} dimensions{}", if *.layered { " and layers" } else { "" })]
    OtherShape {
        /// The instruction's geometry.
        instruction: &'static str,
        /// The object's dimensions.
        dimensions: usize,
        /// Whether the object has layers.
        layered: bool,
    },
    /// Integer indices into a one-dimensional array: a GPU returns zeros.
    #[error("integer indices into a one-dimensional texture read linear memory, but this texture is an array")]
    NotLinearMemory,
    /// Coordinates outside the surface.
    #[error("coordinates {coordinates:?} outside a surface of {extent:?} elements (x in {unit})")]
    OutOfRange {
        /// x, y, z; if there are layers, the last one is the layer.
        coordinates: [i64; 3],
        /// The extent in each dimension.
        extent: [u32; 3],
        /// `bytes` or `elements`.
        unit: &'static str,
    },
    /// The x coordinate is not a multiple of the access's width.
    #[error("surface access of {width} bytes at byte {x} of a row: not a multiple of {width}")]
    Misaligned {
        /// The byte offset in the row.
        x: i64,
        /// Bytes accessed.
        width: u32,
    },
}
