//! 2D copies: rows that are a pitch apart on the device, and adjacent on the host. `memory` calls
//! it, and checks addresses first.

use std::ptr;

use cust::stream::Stream;
use cust::sys::{self, CUDA_MEMCPY2D, CUmemorytype};

use super::status::{Result, to_result};

/// Rows on the device.
#[derive(Clone, Copy)]
pub struct DeviceRows {
    /// The address of the first row.
    pub address: u64,
    /// Bytes from one row to the next.
    pub pitch: u64,
}

/// Copies rows of `row_bytes` bytes to the device.
///
/// # Safety
///
/// As many rows at `to` belong to the current context.
pub unsafe fn write(to: DeviceRows, from: &[u8], row_bytes: u64) -> Result<()> {
    let copy = CUDA_MEMCPY2D {
        srcHost: from.as_ptr().cast(),
        srcPitch: row_bytes as usize,
        ..to_device(to, on_the_host(row_bytes, rows_in(from, row_bytes)))
    };
    // SAFETY: the caller's promise; the host's bytes are borrowed for the call and hold all the
    // rows.
    to_result(unsafe { sys::cuMemcpy2D_v2(&copy) })
}

/// Copies rows of `row_bytes` bytes to the host.
///
/// # Safety
///
/// As many rows at `from` belong to the current context.
pub unsafe fn read(to: &mut [u8], from: DeviceRows, row_bytes: u64) -> Result<()> {
    let copy = CUDA_MEMCPY2D {
        dstHost: to.as_mut_ptr().cast(),
        dstPitch: row_bytes as usize,
        ..from_device(from, on_the_host(row_bytes, rows_in(to, row_bytes)))
    };
    // SAFETY: the caller's promise; the host's bytes are borrowed for the call and hold all the
    // rows.
    to_result(unsafe { sys::cuMemcpy2D_v2(&copy) })
}

/// Starts a copy of rows of `row_bytes` bytes within the device's memory.
///
/// # Safety
///
/// As many rows at both places belong to the current context.
pub unsafe fn copy_async(from: DeviceRows, to: DeviceRows, row_bytes: u64, rows: u64, stream: &Stream) -> Result<()> {
    let copy = to_device(to, from_device(from, on_the_host(row_bytes, rows as usize)));
    // SAFETY: the caller's promise.
    to_result(unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.as_inner()) })
}

fn rows_in(bytes: &[u8], row_bytes: u64) -> usize {
    bytes.len() / (row_bytes as usize).max(1)
}

/// The copy, with rows on the device as its destination.
fn to_device(to: DeviceRows, copy: CUDA_MEMCPY2D) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: to.address,
        dstPitch: to.pitch as usize,
        ..copy
    }
}

/// The copy, with rows on the device as its source.
fn from_device(from: DeviceRows, copy: CUDA_MEMCPY2D) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: from.address,
        srcPitch: from.pitch as usize,
        ..copy
    }
}

/// A copy from null to null on the host, for the functions above to complete. The struct cannot be
/// zeroed: 0 is not a valid kind of memory.
fn on_the_host(row_bytes: u64, rows: usize) -> CUDA_MEMCPY2D {
    CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: ptr::null(),
        srcDevice: 0,
        srcArray: ptr::null_mut(),
        srcPitch: 0,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: ptr::null_mut(),
        dstDevice: 0,
        dstArray: ptr::null_mut(),
        dstPitch: 0,
        WidthInBytes: row_bytes as usize,
        Height: rows,
    }
}
