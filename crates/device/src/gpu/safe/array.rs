//! An array of texels, of one level or several. The backend's textures hold it; `safe/texture.rs` makes objects of it.

use cust::sys::{CUDA_ARRAY3D_DESCRIPTOR, CUarray, CUarray_format_enum as Format, CUmipmappedArray};
use simt::{ArrayShape, ChannelType};

use super::super::result::array::{self, Extent};
use super::super::result::{DriverError, Result};

/// Flags of an array (`CUDA_ARRAY3D_*`).
const LAYERED: u32 = 0x01;
const SURFACE_LOAD_STORE: u32 = 0x02;
const TEXTURE_GATHER: u32 = 0x08;

/// The widest and highest array that gathers can read (CUDA programming guide, "Technical Specifications").
const GATHER_LIMIT: u32 = 32_768;

/// An array of the current context. Freed when dropped.
pub struct GpuArray {
    raw: RawArray,
    shape: ArrayShape,
}

/// The driver's handle.
#[derive(Clone, Copy)]
pub enum RawArray {
    /// One level.
    Plain(CUarray),
    /// Several.
    Mipmapped(CUmipmappedArray),
}

impl GpuArray {
    /// Allocates an array whose contents are undefined.
    pub fn new(shape: &ArrayShape) -> Result<Self> {
        let gathers = shape.dimensions() == 2
            && (shape.layers, shape.levels) == (0, 1)
            && shape.width.max(shape.height) <= GATHER_LIMIT;
        let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
            Width: shape.width as usize,
            Height: shape.height as usize,
            Depth: shape.layers.max(shape.depth) as usize,
            Format: raw_format(shape.format.ty),
            NumChannels: shape.format.channels,
            Flags: SURFACE_LOAD_STORE
                | if shape.layers > 0 { LAYERED } else { 0 }
                | if gathers { TEXTURE_GATHER } else { 0 },
        };
        let raw = match shape.levels {
            1 => RawArray::Plain(array::create(&descriptor)?),
            levels => RawArray::Mipmapped(array::create_mipmapped(&descriptor, levels)?),
        };
        Ok(Self { raw, shape: *shape })
    }

    /// The driver's handle, valid as long as this is.
    pub fn raw(&self) -> RawArray {
        self.raw
    }

    /// The handle as a number.
    pub fn handle(&self) -> u64 {
        match self.raw {
            RawArray::Plain(array) => array as usize as u64,
            RawArray::Mipmapped(array) => array as usize as u64,
        }
    }

    /// The driver's array of a level, valid as long as this is.
    pub fn level(&self, level: u32) -> Result<CUarray> {
        match self.raw {
            RawArray::Plain(array) => Ok(array),
            // SAFETY: the array is alive.
            RawArray::Mipmapped(array) => unsafe { array::level(array, level) },
        }
    }

    /// Copies a level from the host.
    pub fn write(&self, level: u32, texels: &[u8]) -> Result<()> {
        let extent = self.extent(level, texels.len())?;
        // SAFETY: the array is alive, the level has this extent, and there are as many bytes.
        unsafe { array::write(self.level(level)?, texels, extent) }
    }

    /// Copies a level to the host.
    pub fn read(&self, level: u32, texels: &mut [u8]) -> Result<()> {
        let extent = self.extent(level, texels.len())?;
        // SAFETY: the array is alive, the level has this extent, and there are as many bytes.
        unsafe { array::read(texels, self.level(level)?, extent) }
    }

    /// The extent of a level, which must have this many bytes.
    fn extent(&self, level: u32, bytes: usize) -> Result<Extent> {
        let Self { shape, .. } = self;
        if level >= shape.levels || shape.level_bytes(level) != bytes as u64 {
            return Err(DriverError::INVALID_VALUE);
        }
        let [width, height, depth] = shape.extent(level).map(|texels| texels as usize);
        Ok(Extent {
            row_bytes: width * shape.format.bytes() as usize,
            height,
            depth: if shape.layers > 0 { shape.layers as usize } else { depth },
        })
    }
}

impl Drop for GpuArray {
    fn drop(&mut self) {
        // SAFETY: this owns the array.
        let _ = unsafe {
            match self.raw {
                RawArray::Plain(array) => array::destroy(array),
                RawArray::Mipmapped(array) => array::destroy_mipmapped(array),
            }
        };
    }
}

/// The driver's code of a component's type.
pub fn raw_format(ty: ChannelType) -> Format {
    match ty {
        ChannelType::U8 => Format::CU_AD_FORMAT_UNSIGNED_INT8,
        ChannelType::U16 => Format::CU_AD_FORMAT_UNSIGNED_INT16,
        ChannelType::U32 => Format::CU_AD_FORMAT_UNSIGNED_INT32,
        ChannelType::S8 => Format::CU_AD_FORMAT_SIGNED_INT8,
        ChannelType::S16 => Format::CU_AD_FORMAT_SIGNED_INT16,
        ChannelType::S32 => Format::CU_AD_FORMAT_SIGNED_INT32,
        ChannelType::F16 => Format::CU_AD_FORMAT_HALF,
        ChannelType::F32 => Format::CU_AD_FORMAT_FLOAT,
    }
}
