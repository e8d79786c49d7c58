//! Arrays, plain and mip-mapped: what textures and surfaces read. `safe/array.rs` calls it and owns what it makes.

use std::ptr;

use cust::sys::{self, CUDA_ARRAY3D_DESCRIPTOR, CUDA_MEMCPY3D, CUarray, CUmemorytype, CUmipmappedArray};

use super::{Result, to_result};

/// Allocates an array of one level.
pub fn create(descriptor: &CUDA_ARRAY3D_DESCRIPTOR) -> Result<CUarray> {
    let mut array = ptr::null_mut();
    // SAFETY: the descriptor and the output outlive the call.
    to_result(unsafe { sys::cuArray3DCreate_v2(&mut array, descriptor) })?;
    Ok(array)
}

/// Frees an array.
///
/// # Safety
///
/// The array comes from [`create`], in the current context, and nothing uses it any more.
pub unsafe fn destroy(array: CUarray) -> Result<()> {
    // SAFETY: the caller's promise.
    to_result(unsafe { sys::cuArrayDestroy(array) })
}

/// Allocates an array of several levels.
pub fn create_mipmapped(descriptor: &CUDA_ARRAY3D_DESCRIPTOR, levels: u32) -> Result<CUmipmappedArray> {
    let mut array = ptr::null_mut();
    // SAFETY: the descriptor and the output outlive the call.
    to_result(unsafe { sys::cuMipmappedArrayCreate(&mut array, descriptor, levels) })?;
    Ok(array)
}

/// Frees an array of several levels.
///
/// # Safety
///
/// The array comes from [`create_mipmapped`], in the current context, and nothing uses it any more.
pub unsafe fn destroy_mipmapped(array: CUmipmappedArray) -> Result<()> {
    // SAFETY: the caller's promise.
    to_result(unsafe { sys::cuMipmappedArrayDestroy(array) })
}

/// One level of an array of several. It lives as long as the whole.
///
/// # Safety
///
/// The array is alive.
pub unsafe fn level(array: CUmipmappedArray, level: u32) -> Result<CUarray> {
    let mut found = ptr::null_mut();
    // SAFETY: the caller's promise; the output outlives the call.
    to_result(unsafe { sys::cuMipmappedArrayGetLevel(&mut found, array, level) })?;
    Ok(found)
}

/// The texels of a copy.
#[derive(Clone, Copy)]
pub struct Extent {
    /// Bytes of a row.
    pub row_bytes: usize,
    /// Rows.
    pub height: usize,
    /// Slices or layers.
    pub depth: usize,
}

/// Copies a whole array from the host.
///
/// # Safety
///
/// The array is alive and has this extent, and the bytes are as many.
pub unsafe fn write(array: CUarray, from: &[u8], extent: Extent) -> Result<()> {
    let copy = CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: from.as_ptr().cast(),
        srcPitch: extent.row_bytes,
        srcHeight: extent.height,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        dstArray: array,
        ..between_nothing(extent)
    };
    // SAFETY: the caller's promise; the host's bytes are borrowed for the call.
    to_result(unsafe { sys::cuMemcpy3D_v2(&copy) })
}

/// Copies a whole array to the host.
///
/// # Safety
///
/// The array is alive and has this extent, and the bytes are as many.
pub unsafe fn read(to: &mut [u8], array: CUarray, extent: Extent) -> Result<()> {
    let copy = CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
        srcArray: array,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: to.as_mut_ptr().cast(),
        dstPitch: extent.row_bytes,
        dstHeight: extent.height,
        ..between_nothing(extent)
    };
    // SAFETY: the caller's promise; the host's bytes are borrowed for the call.
    to_result(unsafe { sys::cuMemcpy3D_v2(&copy) })
}

/// A copy from null to null on the host, for the functions above to complete.
fn between_nothing(extent: Extent) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
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
        WidthInBytes: extent.row_bytes,
        Height: extent.height,
        Depth: extent.depth,
    }
}
