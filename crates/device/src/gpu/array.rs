//! An array of texels, of one level or several. The backend's textures hold it; `objects` makes
//! textures and surfaces of it.

use std::ptr;

use cust::sys::{
    self, CUDA_ARRAY3D_DESCRIPTOR, CUDA_MEMCPY3D, CUarray, CUarray_format_enum as Format, CUmemorytype,
    CUmipmappedArray,
};
use simt::textures::{ArrayShape, ChannelType};

use super::status::{DriverError, Result, to_result};

/// Flags of an array (`CUDA_ARRAY3D_*`).
const LAYERED: u32 = 0x01;
const SURFACE_LOAD_STORE: u32 = 0x02;
const TEXTURE_GATHER: u32 = 0x08;

/// The widest and highest array that gathers can read (CUDA programming guide, "Technical
/// Specifications").
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
        let (mut plain, mut mipmapped) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the descriptor and the outputs outlive the calls.
        let (status, raw) = unsafe {
            match shape.levels {
                1 => (sys::cuArray3DCreate_v2(&mut plain, &descriptor), RawArray::Plain(plain)),
                levels => {
                    let status = sys::cuMipmappedArrayCreate(&mut mipmapped, &descriptor, levels);
                    (status, RawArray::Mipmapped(mipmapped))
                }
            }
        };
        to_result(status).map(|()| Self { raw, shape: *shape })
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
            RawArray::Mipmapped(array) => {
                let mut found = ptr::null_mut();
                // SAFETY: the array is alive; the output outlives the call.
                to_result(unsafe { sys::cuMipmappedArrayGetLevel(&mut found, array, level) })?;
                Ok(found)
            }
        }
    }

    /// Copies a level from the host.
    pub fn write(&self, level: u32, texels: &[u8]) -> Result<()> {
        let copy = self.copy(level, texels.len())?;
        let copy = CUDA_MEMCPY3D {
            srcHost: texels.as_ptr().cast(),
            srcPitch: copy.WidthInBytes,
            srcHeight: copy.Height,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
            dstArray: self.level(level)?,
            ..copy
        };
        // SAFETY: the array is alive; the level has as many bytes, which are borrowed for the call.
        to_result(unsafe { sys::cuMemcpy3D_v2(&copy) })
    }

    /// Copies a level to the host.
    pub fn read(&self, level: u32, texels: &mut [u8]) -> Result<()> {
        let copy = self.copy(level, texels.len())?;
        let copy = CUDA_MEMCPY3D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
            srcArray: self.level(level)?,
            dstHost: texels.as_mut_ptr().cast(),
            dstPitch: copy.WidthInBytes,
            dstHeight: copy.Height,
            ..copy
        };
        // SAFETY: the array is alive; the level has as many bytes, which are borrowed for the call.
        to_result(unsafe { sys::cuMemcpy3D_v2(&copy) })
    }

    /// A copy of a whole level, which must have this many bytes, from null to null on the host: one
    /// end is still to be set.
    fn copy(&self, level: u32, bytes: usize) -> Result<CUDA_MEMCPY3D> {
        let Self { shape, .. } = self;
        if level >= shape.levels || shape.level_bytes(level) != bytes as u64 {
            return Err(DriverError::INVALID_VALUE);
        }
        let [width, height, depth] = shape.extent(level).map(|texels| texels as usize);
        Ok(CUDA_MEMCPY3D {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: ptr::null(),
            srcDevice: 0,
            srcArray: ptr::null_mut(),
            reserved0: ptr::null_mut(),
            srcPitch: 0,
            srcHeight: 0,
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: ptr::null_mut(),
            dstDevice: 0,
            dstArray: ptr::null_mut(),
            reserved1: ptr::null_mut(),
            dstPitch: 0,
            dstHeight: 0,
            WidthInBytes: width * shape.format.bytes() as usize,
            Height: height,
            Depth: if shape.layers > 0 { shape.layers as usize } else { depth },
        })
    }
}

impl Drop for GpuArray {
    fn drop(&mut self) {
        // SAFETY: this owns the array.
        let _ = unsafe {
            match self.raw {
                RawArray::Plain(array) => sys::cuArrayDestroy(array),
                RawArray::Mipmapped(array) => sys::cuMipmappedArrayDestroy(array),
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
