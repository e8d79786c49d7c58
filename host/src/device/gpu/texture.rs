//! Arrays, textures and surfaces of a GPU.

use std::ptr;

use cust::sys::{
    self, CUDA_ARRAY3D_DESCRIPTOR, CUDA_MEMCPY3D, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC, CUaddress_mode_enum as Mode,
    CUarray, CUarray_format_enum as Format, CUfilter_mode_enum as CudaFilter, CUmemorytype, CUmipmappedArray,
    CUresourcetype_enum as ResourceType,
};
use simt::{AddressMode, ArrayShape, ChannelType, Filter, ReadMode, Sampling};

use super::super::texture::{Array, TextureSource};
use super::Gpu;
use crate::error::Result;

/// Flags of the driver API: `CUDA_ARRAY3D_*`, `CU_TRSF_*`.
const LAYERED: u32 = 0x01;
const SURFACE_LOAD_STORE: u32 = 0x02;
const TEXTURE_GATHER: u32 = 0x08;
const READ_AS_INTEGER: u32 = 0x01;
const NORMALIZED_COORDINATES: u32 = 0x02;
const SRGB: u32 = 0x10;

/// The widest and highest array that gathers can read (CUDA programming guide, "Technical Specifications").
const GATHER_LIMIT: u32 = 32_768;

fn format_of(ty: ChannelType) -> Format {
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

/// An array's handle as the driver has it: that of a mip-mapped array where there are several levels.
fn array_of(handle: u64) -> CUarray {
    handle as usize as CUarray
}

fn mipmapped_of(handle: u64) -> CUmipmappedArray {
    handle as usize as CUmipmappedArray
}

impl Gpu {
    pub(super) fn make_array(&self, shape: &ArrayShape) -> Result<u64> {
        self.make_current()?;
        let gathers = shape.dimensions() == 2
            && (shape.layers, shape.levels) == (0, 1)
            && shape.width.max(shape.height) <= GATHER_LIMIT;
        let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
            Width: shape.width as usize,
            Height: shape.height as usize,
            Depth: shape.layers.max(shape.depth) as usize,
            Format: format_of(shape.format.ty),
            NumChannels: shape.format.channels,
            Flags: SURFACE_LOAD_STORE
                | if shape.layers > 0 { LAYERED } else { 0 }
                | if gathers { TEXTURE_GATHER } else { 0 },
        };
        let bytes = (0..shape.levels).map(|level| shape.level_bytes(level)).sum();
        if shape.levels > 1 {
            let mut array = ptr::null_mut();
            // SAFETY: the descriptor and the output outlive the call.
            let status = unsafe { sys::cuMipmappedArrayCreate(&mut array, &descriptor, shape.levels) };
            self.allocated(bytes, status)?;
            return Ok(array as usize as u64);
        }
        let mut array = ptr::null_mut();
        // SAFETY: the descriptor and the output outlive the call.
        let status = unsafe { sys::cuArray3DCreate_v2(&mut array, &descriptor) };
        self.allocated(bytes, status)?;
        Ok(array as usize as u64)
    }

    pub(super) fn destroy_array(&self, array: &Array) {
        if self.make_current().is_err() {
            return;
        }
        // SAFETY: the array was made by `make_array` with as many levels, and its only owner is dropped now.
        unsafe {
            match array.shape().levels {
                1 => sys::cuArrayDestroy(array_of(array.handle)),
                _ => sys::cuMipmappedArrayDestroy(mipmapped_of(array.handle)),
            };
        }
    }

    /// The driver's array of a level.
    fn level_of(&self, array: &Array, level: u32) -> Result<CUarray> {
        if array.shape().levels == 1 {
            return Ok(array_of(array.handle));
        }
        let mut found = ptr::null_mut();
        // SAFETY: the array is alive and mip-mapped; the output outlives the call.
        let status = unsafe { sys::cuMipmappedArrayGetLevel(&mut found, mipmapped_of(array.handle), level) };
        self.check("finding a level of an array", status)?;
        Ok(found)
    }

    /// Copies a level from or to the host, whose memory is as large as the level: `Array` has seen to it.
    pub(super) fn copy_level(
        &self,
        array: &Array,
        level: u32,
        to_device: Option<&[u8]>,
        to_host: &mut [u8],
    ) -> Result<()> {
        self.make_current()?;
        let shape = array.shape();
        let [width, height, depth] = shape.extent(level).map(|texels| texels as usize);
        let row = width * shape.format.bytes() as usize;
        let on_device = self.level_of(array, level)?;
        let mut copy = CUDA_MEMCPY3D {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
            srcHost: ptr::null(),
            srcDevice: 0,
            srcArray: on_device,
            reserved0: ptr::null_mut(),
            srcPitch: 0,
            srcHeight: 0,
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: to_host.as_mut_ptr().cast(),
            dstDevice: 0,
            dstArray: ptr::null_mut(),
            reserved1: ptr::null_mut(),
            dstPitch: row,
            dstHeight: height,
            WidthInBytes: row,
            Height: height,
            Depth: if shape.layers > 0 { shape.layers as usize } else { depth },
        };
        if let Some(bytes) = to_device {
            copy = CUDA_MEMCPY3D {
                srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
                srcHost: bytes.as_ptr().cast(),
                srcArray: ptr::null_mut(),
                srcPitch: row,
                srcHeight: height,
                dstMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
                dstHost: ptr::null_mut(),
                dstArray: on_device,
                dstPitch: 0,
                dstHeight: 0,
                ..copy
            };
        }
        // SAFETY: the memory on the host is borrowed for the call and has as many bytes as the level; the array is alive.
        let status = unsafe { sys::cuMemcpy3D_v2(&copy) };
        self.check("copying an array", status)
    }

    pub(super) fn make_texture(&self, source: &TextureSource<'_>, sampling: &Sampling) -> Result<u64> {
        self.make_current()?;
        let mut resource = resource_of(ResourceType::CU_RESOURCE_TYPE_ARRAY);
        let format = match *source {
            TextureSource::Array(array) => {
                set_array(&mut resource, array);
                array.shape().format
            }
            TextureSource::Linear { buffer, texels, format } => {
                resource.resType = ResourceType::CU_RESOURCE_TYPE_LINEAR;
                resource.res.linear = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 {
                    devPtr: buffer.address(),
                    format: format_of(format.ty),
                    numChannels: format.channels,
                    sizeInBytes: texels as usize * format.bytes() as usize,
                };
                format
            }
            TextureSource::Pitched { buffer, width, height, pitch, format } => {
                resource.resType = ResourceType::CU_RESOURCE_TYPE_PITCH2D;
                resource.res.pitch2D = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_4 {
                    devPtr: buffer.address(),
                    format: format_of(format.ty),
                    numChannels: format.channels,
                    width: width as usize,
                    height: height as usize,
                    pitchInBytes: pitch as usize,
                };
                format
            }
        };
        let filter = |filter| match filter {
            Filter::Point => CudaFilter::CU_TR_FILTER_MODE_POINT,
            Filter::Linear => CudaFilter::CU_TR_FILTER_MODE_LINEAR,
        };
        let whole = !format.ty.is_float() && sampling.read_mode == ReadMode::Element;
        let flag = |set, flag| if set { flag } else { 0 };
        let texture = CUDA_TEXTURE_DESC {
            addressMode: sampling.address_modes.map(|mode| match mode {
                AddressMode::Wrap => Mode::CU_TR_ADDRESS_MODE_WRAP,
                AddressMode::Clamp => Mode::CU_TR_ADDRESS_MODE_CLAMP,
                AddressMode::Mirror => Mode::CU_TR_ADDRESS_MODE_MIRROR,
                AddressMode::Border => Mode::CU_TR_ADDRESS_MODE_BORDER,
            }),
            filterMode: filter(sampling.filter),
            flags: flag(whole, READ_AS_INTEGER)
                | flag(sampling.normalized_coordinates, NORMALIZED_COORDINATES)
                | flag(sampling.srgb, SRGB),
            maxAnisotropy: 0,
            mipmapFilterMode: filter(sampling.level_filter),
            mipmapLevelBias: sampling.level_bias,
            minMipmapLevelClamp: sampling.level_range.0,
            maxMipmapLevelClamp: sampling.level_range.1,
            borderColor: sampling.border,
            reserved: [0; 12],
        };
        let mut handle = 0;
        // SAFETY: what is described is alive, and `Texture` borrows it; the structs and the output outlive the call.
        let status = unsafe { sys::cuTexObjectCreate(&mut handle, &resource, &texture, ptr::null()) };
        self.check("creating a texture", status)?;
        Ok(handle)
    }

    pub(super) fn make_surface(&self, array: &Array) -> Result<u64> {
        self.make_current()?;
        let mut resource = resource_of(ResourceType::CU_RESOURCE_TYPE_ARRAY);
        resource.res.array.hArray = self.level_of(array, 0)?;
        let mut handle = 0;
        // SAFETY: the array is alive, and `Surface` borrows it; the struct and the output outlive the call.
        let status = unsafe { sys::cuSurfObjectCreate(&mut handle, &resource) };
        self.check("creating a surface", status)?;
        Ok(handle)
    }

    pub(super) fn drop_texture(&self, handle: u64) {
        if self.make_current().is_ok() {
            // SAFETY: the handle comes from `make_texture`, and its only owner is dropped now.
            unsafe { sys::cuTexObjectDestroy(handle) };
        }
    }

    pub(super) fn drop_surface(&self, handle: u64) {
        if self.make_current().is_ok() {
            // SAFETY: the handle comes from `make_surface`, and its only owner is dropped now.
            unsafe { sys::cuSurfObjectDestroy(handle) };
        }
    }
}

/// A resource of which nothing is said yet.
fn resource_of(kind: ResourceType) -> CUDA_RESOURCE_DESC {
    let reserved = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_5 { reserved: [0; 32] };
    CUDA_RESOURCE_DESC { resType: kind, res: sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1 { reserved }, flags: 0 }
}

fn set_array(resource: &mut CUDA_RESOURCE_DESC, array: &Array) {
    if array.shape().levels == 1 {
        resource.res.array.hArray = array_of(array.handle);
    } else {
        resource.resType = ResourceType::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        resource.res.mipmap.hMipmappedArray = mipmapped_of(array.handle);
    }
}
