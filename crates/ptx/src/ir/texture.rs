//! Textures and surfaces: the operands of their instructions, and the state of samplers (PTX ISA,
//! "Texture Instructions", "Surface Instructions").

use super::memory::AtomicOp;
use super::module::{Register, Variable};
use super::names::names;
use super::operand::{Destination, Operand};
use super::special::Axis;
use super::types::Type;
use crate::Handle;

/// Operations on textures and surfaces.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // fields as in `Op`
pub enum TextureOp {
    /// `tex` and `tld4`.
    Fetch(Box<TextureFetch>),
    /// `txq`, `suq`, of one level of a mip-mapped texture, or else of the first level.
    Query { what: TextureQuery, of_surface: bool, dst: Destination, object: Opaque, level: Option<Operand> },
    /// `suld.b`: the first coordinate counts bytes.
    SurfaceLoad { ty: Type, dsts: Vec<Destination>, surface: Opaque, position: TexelPosition, outside: OutOfRange },
    /// `sust.b`; `sust.p` is `formatted`: coordinates count elements, values are converted to the
    /// surface's format.
    SurfaceStore {
        formatted: bool,
        ty: Type,
        srcs: Vec<Operand>,
        surface: Opaque,
        position: TexelPosition,
        outside: OutOfRange,
    },
    /// `sured.b`; `sured.p` is `by_element`: the first coordinate counts elements, not bytes.
    SurfaceReduce {
        by_element: bool,
        op: AtomicOp,
        ty: Type,
        src: Operand,
        surface: Opaque,
        position: TexelPosition,
        outside: OutOfRange,
    },
}

names! {
    /// The shape of a texture or surface, and so of its coordinates.
    #[allow(missing_docs)] // each is one of PTX's geometries
    pub enum Geometry {
        /// `.1d`
        Line = "1d",
        /// `.2d`
        Plane = "2d",
        /// `.3d`
        Volume = "3d",
        /// `.a1d`
        LineArray = "a1d",
        /// `.a2d`
        PlaneArray = "a2d",
        /// `.cube`
        Cube = "cube",
        /// `.acube`
        CubeArray = "acube",
    }
}

impl Geometry {
    /// The number of coordinates within a layer.
    pub fn dimensions(self) -> usize {
        match self {
            Geometry::Line | Geometry::LineArray => 1,
            Geometry::Plane | Geometry::PlaneArray => 2,
            Geometry::Volume | Geometry::Cube | Geometry::CubeArray => 3,
        }
    }

    /// Whether a layer number precedes the coordinates.
    pub fn is_layered(self) -> bool {
        matches!(self, Geometry::LineArray | Geometry::PlaneArray | Geometry::CubeArray)
    }
}

/// A reference to a texture, a sampler or a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opaque {
    /// A `.texref`, `.samplerref` or `.surfref`.
    Variable(Handle<Variable>),
    /// A register with a 64-bit handle that the host created, or with the address of such a
    /// variable.
    Register(Handle<Register>),
}

/// The texel that an instruction addresses: what stands beside the texture or surface in its
/// brackets.
#[derive(Clone, Debug, PartialEq)]
pub struct TexelPosition {
    /// Its shape.
    pub geometry: Geometry,
    /// The layer, if the object has layers: a 32-bit integer.
    pub layer: Option<Operand>,
    /// One for each dimension.
    pub coordinates: Vec<Operand>,
    /// [`Type::S32`] or [`Type::F32`].
    pub ty: Type,
}

/// The level of a mip-mapped texture.
#[derive(Clone, Debug, PartialEq)]
pub enum Level {
    /// The first level.
    Base,
    /// An explicit level, of the type of the coordinates; a fraction is between two levels.
    At(Operand),
    /// The level at which neighbouring lanes fetch neighbouring texels, from the changes of each
    /// coordinate from one lane to the next in x and in y.
    Gradient(Vec<Operand>, Vec<Operand>),
}

/// What a texture instruction fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// `tex`: the filtered value, four components.
    Sample,
    /// `tld4`: one component (0 to 3) of each of the four texels that the linear filter would mix.
    Gather(u8),
}

/// `tex`, `tld4`.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureFetch {
    /// What is fetched.
    pub fetch: Fetch,
    /// The type of each result: u32, s32, f32, f16; f16x2 with two results of two components each.
    pub ty: Type,
    /// The results.
    pub dsts: Vec<Destination>,
    /// Receives whether the texels are in memory, which they always are.
    pub resident: Destination,
    /// The texture.
    pub texture: Opaque,
    /// The sampler, unless the texture has its own.
    pub sampler: Option<Opaque>,
    /// Which texel.
    pub position: TexelPosition,
    /// Which level.
    pub level: Level,
    /// Added to the texel's indices: one for each dimension, or empty.
    pub offset: Vec<Operand>,
}

/// What `txq` and `suq` ask for. Codes of types and orders: PTX ISA, "Texture, Sampler and Surface
/// Types".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is PTX's own
pub enum TextureQuery {
    Width,
    Height,
    Depth,
    ChannelDataType,
    ChannelOrder,
    NormalizedCoordinates,
    ArraySize,
    MipmapLevels,
    Samples,
    ForceUnnormalizedCoordinates,
    FilterMode,
    /// The address mode of that coordinate.
    AddressMode(Axis),
    MemoryLayout,
}

names! {
    TextureQuery {
        Width = "width",
        Height = "height",
        Depth = "depth",
        ChannelDataType = "channel_data_type",
        ChannelOrder = "channel_order",
        NormalizedCoordinates = "normalized_coords",
        ArraySize = "array_size",
        MipmapLevels = "num_mipmap_levels",
        Samples = "num_samples",
        ForceUnnormalizedCoordinates = "force_unnormalized_coords",
        FilterMode = "filter_mode",
        AddressMode(Axis::X) = "addr_mode_0",
        AddressMode(Axis::Y) = "addr_mode_1",
        AddressMode(Axis::Z) = "addr_mode_2",
        MemoryLayout = "memory_layout",
    }
}

names! {
    /// What a surface instruction does if its coordinates are outside the surface.
    pub enum OutOfRange {
        /// `.trap`: a fault.
        Trap = "trap",
        /// `.clamp`: accesses the nearest element.
        Clamp = "clamp",
        /// `.zero`: loads return zero, stores do nothing.
        Zero = "zero",
    }
}

/// The initial state of a `.samplerref`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SamplerState {
    /// `addr_mode_0`, `addr_mode_1`, `addr_mode_2`.
    pub address_modes: [SamplerAddressMode; 3],
    /// `filter_mode = linear`.
    pub linear: bool,
    /// `force_unnormalized_coords = 1`.
    pub unnormalized: bool,
}

/// What a sampler does with coordinates outside the texture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is PTX's own
pub enum SamplerAddressMode {
    Wrap,
    Mirror,
    /// `clamp_ogl` as well as `clamp_to_edge`.
    #[default]
    ClampToEdge,
    ClampToBorder,
}
