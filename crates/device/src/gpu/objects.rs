//! Texture and surface objects. The backend keeps them until the host drops their handles.

use std::ptr;
use std::rc::Rc;

use cust::sys::{
    self, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC, CUaddress_mode_enum as Mode, CUfilter_mode_enum as CudaFilter,
    CUresourcetype_enum as ResourceType,
};
use simt::textures::{AddressMode, Filter, ReadMode, Sampling, TexelFormat};

use super::array::{GpuArray, RawArray, raw_format};
use super::status::{Result, to_result};

/// Flags of a texture (`CU_TRSF_*`).
const READ_AS_INTEGER: u32 = 0x01;
const NORMALIZED_COORDINATES: u32 = 0x02;
const SRGB: u32 = 0x10;

/// What a texture reads.
pub enum Source {
    /// An array, which the texture keeps alive.
    Array(Rc<GpuArray>, TexelFormat),
    /// Texels one after the other at this address.
    Linear { address: u64, texels: u32, format: TexelFormat },
    /// Rows of texels from this address on.
    Pitched { address: u64, width: u32, height: u32, pitch: u64, format: TexelFormat },
}

/// A texture object of the current context. Destroyed when dropped.
pub struct Texture {
    /// The number that kernels take for it.
    pub handle: u64,
    _array: Option<Rc<GpuArray>>,
}

/// A surface object of the current context. Destroyed when dropped.
pub struct Surface {
    /// The number that kernels take for it.
    pub handle: u64,
    _array: Rc<GpuArray>,
}

impl Texture {
    /// Makes a texture.
    ///
    /// # Safety
    ///
    /// A linear or pitched source stays allocated in the context's memory as long as kernels read
    /// the texture.
    pub unsafe fn new(source: Source, sampling: &Sampling) -> Result<Self> {
        let (resource, format) = raw_resource(&source);
        let sampling = raw_sampling(sampling, format);
        let mut handle = 0;
        // SAFETY: the array is alive; the structs and the output outlive the call; the rest is the
        // caller's promise.
        to_result(unsafe { sys::cuTexObjectCreate(&mut handle, &resource, &sampling, ptr::null()) })?;
        let array = match source {
            Source::Array(array, _) => Some(array),
            Source::Linear { .. } | Source::Pitched { .. } => None,
        };
        Ok(Self { handle, _array: array })
    }
}

impl Drop for Texture {
    fn drop(&mut self) {
        // SAFETY: this owns the texture.
        let _ = unsafe { sys::cuTexObjectDestroy(self.handle) };
    }
}

impl Surface {
    /// Makes a surface of an array's first level.
    pub fn new(array: Rc<GpuArray>) -> Result<Self> {
        let mut resource = empty_resource(ResourceType::CU_RESOURCE_TYPE_ARRAY);
        resource.res.array.hArray = array.level(0)?;
        let mut handle = 0;
        // SAFETY: the array is alive; the struct and the output outlive the call.
        to_result(unsafe { sys::cuSurfObjectCreate(&mut handle, &resource) })?;
        Ok(Self { handle, _array: array })
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        // SAFETY: this owns the surface.
        let _ = unsafe { sys::cuSurfObjectDestroy(self.handle) };
    }
}

fn raw_resource(source: &Source) -> (CUDA_RESOURCE_DESC, TexelFormat) {
    match *source {
        Source::Array(ref array, format) => {
            let resource = match array.raw() {
                RawArray::Plain(array) => {
                    let mut resource = empty_resource(ResourceType::CU_RESOURCE_TYPE_ARRAY);
                    resource.res.array.hArray = array;
                    resource
                }
                RawArray::Mipmapped(array) => {
                    let mut resource = empty_resource(ResourceType::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
                    resource.res.mipmap.hMipmappedArray = array;
                    resource
                }
            };
            (resource, format)
        }
        Source::Linear { address, texels, format } => {
            let mut resource = empty_resource(ResourceType::CU_RESOURCE_TYPE_LINEAR);
            resource.res.linear = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 {
                devPtr: address,
                format: raw_format(format.ty),
                numChannels: format.channels,
                sizeInBytes: texels as usize * format.bytes() as usize,
            };
            (resource, format)
        }
        Source::Pitched { address, width, height, pitch, format } => {
            let mut resource = empty_resource(ResourceType::CU_RESOURCE_TYPE_PITCH2D);
            resource.res.pitch2D = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_4 {
                devPtr: address,
                format: raw_format(format.ty),
                numChannels: format.channels,
                width: width as usize,
                height: height as usize,
                pitchInBytes: pitch as usize,
            };
            (resource, format)
        }
    }
}

/// A resource of this kind whose fields are still to be set.
fn empty_resource(kind: ResourceType) -> CUDA_RESOURCE_DESC {
    let reserved = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_5 { reserved: [0; 32] };
    CUDA_RESOURCE_DESC { resType: kind, res: sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1 { reserved }, flags: 0 }
}

fn raw_sampling(sampling: &Sampling, format: TexelFormat) -> CUDA_TEXTURE_DESC {
    let filter = |filter| match filter {
        Filter::Point => CudaFilter::CU_TR_FILTER_MODE_POINT,
        Filter::Linear => CudaFilter::CU_TR_FILTER_MODE_LINEAR,
    };
    let as_integer = !format.ty.is_float() && sampling.read_mode == ReadMode::Element;
    let flag = |set, flag| if set { flag } else { 0 };
    CUDA_TEXTURE_DESC {
        addressMode: sampling.address_modes.map(|mode| match mode {
            AddressMode::Wrap => Mode::CU_TR_ADDRESS_MODE_WRAP,
            AddressMode::Clamp => Mode::CU_TR_ADDRESS_MODE_CLAMP,
            AddressMode::Mirror => Mode::CU_TR_ADDRESS_MODE_MIRROR,
            AddressMode::Border => Mode::CU_TR_ADDRESS_MODE_BORDER,
        }),
        filterMode: filter(sampling.filter),
        flags: flag(as_integer, READ_AS_INTEGER)
            | flag(sampling.normalized_coordinates, NORMALIZED_COORDINATES)
            | flag(sampling.srgb, SRGB),
        maxAnisotropy: 0,
        mipmapFilterMode: filter(sampling.level_filter),
        mipmapLevelBias: sampling.level_bias,
        minMipmapLevelClamp: sampling.level_range.0,
        maxMipmapLevelClamp: sampling.level_range.1,
        borderColor: sampling.border,
        reserved: [0; 12],
    }
}
