//! The arrays, textures, samplers and surfaces of a device, which a [`Memory`](crate::Memory) owns.
//! `memory/arrays.rs` creates and frees them on behalf of the host; fetches look them up. Also
//! validates their shapes and sampling. Only data: no access to memory.

use super::texel;
use super::types::{ArrayShape, ChannelType, Filter, ReadMode, Sampling, TexelFormat, TextureError};

/// The most texels in each dimension, and the most layers, of an array (CUDA programming guide,
/// "Technical Specifications").
const LINE_LIMIT: u32 = 131_072;
const PLANE_LIMITS: [u32; 2] = [131_072, 65_536];
const VOLUME_LIMIT: u32 = 16_384;
const LAYER_LIMIT: u32 = 2048;

/// Handles are numbers that are neither small nor addresses. Each kind of object has a range of its
/// own.
pub(crate) const TEXTURES: u64 = 0x7_1000_0000;
const SAMPLERS: u64 = 0x7_2000_0000;
pub(crate) const SURFACES: u64 = 0x7_3000_0000;

/// Everything that a memory holds apart from bytes.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    /// `None` if freed.
    pub(crate) arrays: Vec<Option<Array>>,
    pub(crate) textures: Vec<Option<Texture>>,
    samplers: Vec<Sampling>,
    pub(crate) surfaces: Vec<Option<Surface>>,
}

/// An array. Its texels are in device memory, row by row. (The hardware tiles them: see
/// [`place_in_array`](super::place_in_array).)
#[derive(Clone, Copy, Debug)]
pub(crate) struct Array {
    pub address: u64,
    pub shape: ArrayShape,
}

/// A texture object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texture {
    pub source: Source,
    pub sampling: Sampling,
}

/// A surface object: the first level of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface {
    pub address: u64,
    pub shape: ArrayShape,
}

/// What a texture reads, and where it is in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Array { address: u64, shape: ArrayShape },
    Linear { address: u64, texels: u32, format: TexelFormat },
    Pitched { address: u64, width: u32, height: u32, pitch: u64, format: TexelFormat },
}

pub(crate) fn index_of(handle: u64, kind: u64) -> Option<usize> {
    handle.checked_sub(kind).and_then(|index| usize::try_from(index).ok())
}

impl Objects {
    #[inline]
    pub fn texture(&self, handle: u64) -> Option<&Texture> {
        self.textures.get(index_of(handle, TEXTURES)?)?.as_ref()
    }

    pub fn sampler(&self, handle: u64) -> Option<&Sampling> {
        self.samplers.get(index_of(handle, SAMPLERS)?)
    }

    pub fn surface(&self, handle: u64) -> Option<&Surface> {
        self.surfaces.get(index_of(handle, SURFACES)?)?.as_ref()
    }

    pub fn add_sampler(&mut self, sampling: Sampling) -> u64 {
        self.samplers.push(sampling);
        SAMPLERS + self.samplers.len() as u64 - 1
    }
}

pub(crate) fn check_format(format: TexelFormat) -> Result<(), TextureError> {
    if matches!(format.channels, 1 | 2 | 4) { Ok(()) } else { Err(TextureError::Channels(format.channels)) }
}

impl Sampling {
    /// Checks that texels of this format can be sampled like this.
    ///
    /// # Errors
    ///
    /// The first rule that is broken.
    pub fn check(&self, format: TexelFormat) -> Result<(), TextureError> {
        let small = !format.ty.is_float() && format.ty.bytes() < 4;
        let normalizes = self.read_mode == ReadMode::NormalizedFloat;
        if normalizes && !small && !format.ty.is_float() {
            return Err(TextureError::NotNormalizable);
        }
        if self.srgb && !(normalizes && format.ty == ChannelType::U8) {
            return Err(TextureError::NotSrgb);
        }
        if self.filter == Filter::Linear && !texel::gives_floats(format, self) {
            return Err(TextureError::FilterNeedsFloats);
        }
        Ok(())
    }
}

impl ArrayShape {
    /// Checks the shape against an H200's limits.
    ///
    /// # Errors
    ///
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), TextureError> {
        let Self { width, height, depth, layers, .. } = *self;
        let refuse = |why| Err(TextureError::Shape(width, height, depth, layers, why));
        check_format(self.format)?;
        if width == 0 {
            return refuse("it is empty");
        }
        if depth > 0 && height == 0 {
            return refuse("it has a depth, but no height");
        }
        if depth > 0 && layers > 0 {
            return refuse("layers have one or two dimensions");
        }
        let fits = match self.dimensions() {
            1 => width <= LINE_LIMIT,
            2 => width <= PLANE_LIMITS[0] && height <= PLANE_LIMITS[1],
            _ => [width, height, depth].iter().all(|&texels| texels <= VOLUME_LIMIT),
        };
        if !fits || layers > LAYER_LIMIT {
            return refuse(
                "the limits of an H200 are 131072, 131072 x 65536 or 16384 x 16384 x 16384, and 2048 layers",
            );
        }
        let most = 32 - width.max(height).max(depth).leading_zeros();
        if self.levels == 0 || self.levels > most {
            return Err(TextureError::Levels { given: self.levels, most });
        }
        Ok(())
    }
}

impl Source {
    /// The shape of an array with the same extent.
    #[inline]
    pub fn shape(&self) -> ArrayShape {
        match *self {
            Source::Array { shape, .. } => shape,
            Source::Linear { texels, format, .. } => ArrayShape { width: texels, ..ArrayShape::of(format) },
            Source::Pitched { width, height, format, .. } => ArrayShape { width, height, ..ArrayShape::of(format) },
        }
    }
}
