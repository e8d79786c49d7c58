//! Linear memory of the current context: allocations, copies and fills. Addresses are device addresses. `safe/memory.rs`
//! calls it, and checks addresses first.

use cust::memory::LockedBuffer;
use cust::stream::Stream;
use cust::sys;

use super::{Result, to_result};

/// Allocates `bytes` bytes; returns their address.
pub fn allocate(bytes: u64) -> Result<u64> {
    let mut address = 0;
    // SAFETY: the output outlives the call.
    to_result(unsafe { sys::cuMemAlloc_v2(&mut address, bytes as usize) })?;
    Ok(address)
}

/// Allocates rows that start on the device's preferred alignment; returns the address and the pitch in bytes.
pub fn allocate_pitched(row_bytes: u64, rows: u64, element_bytes: u32) -> Result<(u64, u64)> {
    let (mut address, mut pitch) = (0, 0);
    // SAFETY: both outputs outlive the call; the driver checks the sizes.
    to_result(unsafe {
        sys::cuMemAllocPitch_v2(&mut address, &mut pitch, row_bytes as usize, rows as usize, element_bytes)
    })?;
    Ok((address, pitch as u64))
}

/// Frees an allocation.
///
/// # Safety
///
/// The address comes from one of the functions above, in the current context, and nothing uses the memory any more.
pub unsafe fn free(address: u64) -> Result<()> {
    // SAFETY: the caller's promise.
    to_result(unsafe { sys::cuMemFree_v2(address) })
}

/// Copies from the host to the device.
///
/// # Safety
///
/// As many bytes from `to` on belong to the current context.
pub unsafe fn write(to: u64, from: &[u8]) -> Result<()> {
    // SAFETY: the caller's promise; the host's bytes are borrowed for the call, which returns when they are copied.
    to_result(unsafe { sys::cuMemcpyHtoD_v2(to, from.as_ptr().cast(), from.len()) })
}

/// Copies from the device to the host.
///
/// # Safety
///
/// As many bytes from `from` on belong to the current context.
pub unsafe fn read(to: &mut [u8], from: u64) -> Result<()> {
    // SAFETY: the caller's promise; the host's bytes are borrowed for the call, which returns when they are copied.
    to_result(unsafe { sys::cuMemcpyDtoH_v2(to.as_mut_ptr().cast(), from, to.len()) })
}

/// Starts a copy from pinned memory of the host to the device.
///
/// # Safety
///
/// As many bytes from `to` on belong to the current context. The pinned memory is kept, unchanged, until the stream has been
/// waited for.
pub unsafe fn write_async(to: u64, from: &LockedBuffer<u8>, stream: &Stream) -> Result<()> {
    // SAFETY: the caller's promise.
    to_result(unsafe { sys::cuMemcpyHtoDAsync_v2(to, from.as_ptr().cast(), from.len(), stream.as_inner()) })
}

/// Starts a copy within the device's memory.
///
/// # Safety
///
/// `bytes` bytes from both addresses on belong to the current context.
pub unsafe fn copy_async(from: u64, to: u64, bytes: u64, stream: &Stream) -> Result<()> {
    // SAFETY: the caller's promise.
    to_result(unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes as usize, stream.as_inner()) })
}

/// Starts setting `bytes` bytes to `value`.
///
/// # Safety
///
/// `bytes` bytes from `address` on belong to the current context.
pub unsafe fn fill_async(address: u64, bytes: u64, value: u8, stream: &Stream) -> Result<()> {
    // SAFETY: the caller's promise.
    to_result(unsafe { sys::cuMemsetD8Async(address, value, bytes as usize, stream.as_inner()) })
}

/// Makes all lines ordinary that level 2 was asked to keep.
pub fn reset_l2_priorities() -> Result<()> {
    // SAFETY: it takes nothing, and changes no data.
    to_result(unsafe { sys::cuCtxResetPersistingL2Cache() })
}
