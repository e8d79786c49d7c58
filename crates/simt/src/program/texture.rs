//! The decoded form of instructions on textures and surfaces.

use ptx::{AtomicOp, Geometry, OutOfRange, TextureQuery, Type};

/// The rows with the coordinates of an access.
#[derive(Clone, Debug)]
pub(crate) struct CoordinateRows {
    pub geometry: Geometry,
    pub layer: Option<u32>,
    /// One row for each dimension.
    pub rows: Vec<u32>,
    /// Whether coordinates are integers.
    pub whole: bool,
}

/// Which level of a texture is read.
#[derive(Clone, Debug)]
pub(crate) enum Level {
    Base,
    At(u32),
    Gradient(Vec<u32>, Vec<u32>),
}

/// `tex`, or `tld4` if it has a component.
#[derive(Clone, Debug)]
pub(crate) struct Fetch {
    pub component: Option<usize>,
    pub ty: Type,
    pub rows: Vec<u32>,
    pub resident: Option<u32>,
    /// A 64-bit row with a handle, or the address of one, as for samplers and surfaces.
    pub texture: u32,
    pub sampler: Option<u32>,
    pub coordinates: CoordinateRows,
    pub level: Level,
    pub offset: Vec<u32>,
}

/// `txq`, `suq`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    pub what: TextureQuery,
    pub of_surface: bool,
    pub d: u32,
    pub object: u32,
    pub level: Option<u32>,
}

/// What a surface instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SurfaceAction {
    Load,
    Store,
    /// `sust.p`
    StoreFormatted,
    Reduce(AtomicOp),
}

/// `suld`, `sust`, `sured`.
#[derive(Clone, Debug)]
pub(crate) struct SurfaceAccess {
    pub action: SurfaceAction,
    /// Whether the first coordinate counts elements instead of bytes.
    pub by_element: bool,
    /// Whether destinations have 64 bits.
    pub wide: bool,
    pub ty: Type,
    pub rows: Vec<u32>,
    pub surface: u32,
    pub coordinates: CoordinateRows,
    pub outside: OutOfRange,
}
