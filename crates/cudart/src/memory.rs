//! Allocations, copies and fills of bytes, symbols, and what is known of pointers.

use std::ffi::{c_int, c_uint, c_void};

use crate::call::{put, runtime};
use crate::device::{current, ready};
use crate::driver;
use crate::error::{Done, Error};
use crate::registration::variable;
use crate::types::{Handle, IpcHandle};

/// The directions of copies: `cudaMemcpyKind`.
const TO_DEVICE: c_uint = 1;
const TO_HOST: c_uint = 2;
const ON_DEVICE: c_uint = 3;

/// Copies bytes.
fn copy(to: u64, from: u64, bytes: usize, kind: c_uint) -> Done {
    ready()?;
    match kind {
        _ if bytes == 0 => Ok(()),
        0 | 4 => driver::cuMemcpy(to, from, bytes),
        TO_DEVICE => driver::cuMemcpyHtoD_v2(to, from, bytes),
        TO_HOST => driver::cuMemcpyDtoH_v2(to, from, bytes),
        ON_DEVICE => driver::cuMemcpyDtoD_v2(to, from, bytes),
        _ => Err(Error::INVALID_DIRECTION),
    }
}

/// Copies bytes in a stream.
fn copy_in(to: u64, from: u64, bytes: usize, kind: c_uint, stream: Handle) -> Done {
    ready()?;
    match kind {
        _ if bytes == 0 => Ok(()),
        0 | 4 => driver::cuMemcpyAsync(to, from, bytes, stream),
        TO_DEVICE => driver::cuMemcpyHtoDAsync_v2(to, from, bytes, stream),
        TO_HOST => driver::cuMemcpyDtoHAsync_v2(to, from, bytes, stream),
        ON_DEVICE => driver::cuMemcpyDtoDAsync_v2(to, from, bytes, stream),
        _ => Err(Error::INVALID_DIRECTION),
    }
}

/// The address of so many bytes of a variable.
fn part(symbol: *const c_void, offset: usize, bytes: usize) -> Done<u64> {
    let (address, length) = variable(symbol)?;
    let fits = offset.checked_add(bytes).is_some_and(|end| end <= length);
    if fits { Ok(address + offset as u64) } else { Err(Error::INVALID_VALUE) }
}

/// Allocates; nothing has no address.
fn allocate(to: *mut u64, bytes: usize, allocate: impl FnOnce() -> Done) -> Done {
    ready()?;
    if bytes == 0 { put(to, 0) } else { allocate() }
}

/// `cudaPointerAttributes`, with the bytes that are reserved.
#[repr(C)]
pub struct PointerAttributes {
    kind: c_uint,
    device: c_int,
    on_device: u64,
    on_host: u64,
    reserved: [usize; 8],
}

fn pointer<T: Default>(address: u64, number: c_uint) -> Done<T> {
    let mut value = T::default();
    driver::cuPointerGetAttribute((&raw mut value).cast(), number, address)?;
    Ok(value)
}

runtime! {
    fn cudaMalloc(to: *mut u64, bytes: usize) {
        allocate(to, bytes, || driver::cuMemAlloc_v2(to, bytes))
    }

    fn cudaMallocHost(to: *mut u64, bytes: usize) {
        allocate(to, bytes, || driver::cuMemAllocHost_v2(to, bytes))
    }

    fn cudaHostAlloc(to: *mut u64, bytes: usize, flags: c_uint) {
        allocate(to, bytes, || driver::cuMemHostAlloc(to, bytes, flags))
    }

    fn cudaMallocManaged(to: *mut u64, bytes: usize, flags: c_uint) {
        ready()?;
        driver::cuMemAllocManaged(to, bytes, flags)
    }

    fn cudaMallocAsync [cudaMallocAsync_ptsz] (to: *mut u64, bytes: usize, stream: Handle) {
        allocate(to, bytes, || driver::cuMemAllocAsync(to, bytes, stream))
    }

    fn cudaFree(address: u64) {
        ready()?;
        if address == 0 { Ok(()) } else { driver::cuMemFree_v2(address) }
    }

    fn cudaFreeHost(address: u64) {
        ready()?;
        if address == 0 { Ok(()) } else { driver::cuMemFreeHost(address) }
    }

    fn cudaFreeAsync [cudaFreeAsync_ptsz] (address: u64, stream: Handle) {
        ready()?;
        if address == 0 { Ok(()) } else { driver::cuMemFreeAsync(address, stream) }
    }

    fn cudaIpcGetMemHandle(to: *mut IpcHandle, address: u64) {
        ready()?;
        driver::cuIpcGetMemHandle(to, address)
    }

    fn cudaIpcOpenMemHandle(to: *mut u64, handle: IpcHandle, flags: c_uint) {
        ready()?;
        driver::cuIpcOpenMemHandle_v2(to, handle, flags)
    }

    fn cudaIpcCloseMemHandle(address: u64) {
        ready()?;
        driver::cuIpcCloseMemHandle(address)
    }

    fn cudaMemGetInfo(free: *mut usize, all: *mut usize) {
        ready()?;
        driver::cuMemGetInfo_v2(free, all)
    }

    fn cudaHostRegister(address: u64, bytes: usize, flags: c_uint) {
        ready()?;
        driver::cuMemHostRegister_v2(address, bytes, flags)
    }

    fn cudaHostUnregister(address: u64) {
        ready()?;
        driver::cuMemHostUnregister(address)
    }

    fn cudaHostGetDevicePointer(to: *mut u64, address: u64, flags: c_uint) {
        ready()?;
        driver::cuMemHostGetDevicePointer_v2(to, address, flags)
    }

    fn cudaHostGetFlags(to: *mut c_uint, address: u64) {
        ready()?;
        driver::cuMemHostGetFlags(to, address)
    }

    fn cudaMemcpy [cudaMemcpy_ptds] (to: u64, from: u64, bytes: usize, kind: c_uint) {
        copy(to, from, bytes, kind)
    }

    fn cudaMemcpyAsync [cudaMemcpyAsync_ptsz] (to: u64, from: u64, bytes: usize, kind: c_uint, stream: Handle) {
        copy_in(to, from, bytes, kind, stream)
    }

    fn cudaMemcpyPeer(to: u64, to_device: c_int, from: u64, from_device: c_int, bytes: usize) {
        copy(to, from, bytes, 4)
    }

    fn cudaMemcpyPeerAsync(
        to: u64, to_device: c_int, from: u64, from_device: c_int, bytes: usize, stream: Handle,
    ) {
        copy_in(to, from, bytes, 4, stream)
    }

    fn cudaMemcpyToSymbol [cudaMemcpyToSymbol_ptds] (symbol: *const c_void, from: u64, bytes: usize, offset: usize, kind: c_uint) {
        copy(part(symbol, offset, bytes)?, from, bytes, kind)
    }

    fn cudaMemcpyToSymbolAsync [cudaMemcpyToSymbolAsync_ptsz] (
        symbol: *const c_void, from: u64, bytes: usize, offset: usize, kind: c_uint, stream: Handle,
    ) {
        copy_in(part(symbol, offset, bytes)?, from, bytes, kind, stream)
    }

    fn cudaMemcpyFromSymbol [cudaMemcpyFromSymbol_ptds] (to: u64, symbol: *const c_void, bytes: usize, offset: usize, kind: c_uint) {
        copy(to, part(symbol, offset, bytes)?, bytes, kind)
    }

    fn cudaMemcpyFromSymbolAsync [cudaMemcpyFromSymbolAsync_ptsz] (
        to: u64, symbol: *const c_void, bytes: usize, offset: usize, kind: c_uint, stream: Handle,
    ) {
        copy_in(to, part(symbol, offset, bytes)?, bytes, kind, stream)
    }

    fn cudaGetSymbolAddress(to: *mut u64, symbol: *const c_void) {
        put(to, variable(symbol)?.0)
    }

    fn cudaGetSymbolSize(to: *mut usize, symbol: *const c_void) {
        put(to, variable(symbol)?.1)
    }

    fn cudaMemset [cudaMemset_ptds] (to: u64, value: c_int, bytes: usize) {
        ready()?;
        if bytes == 0 { Ok(()) } else { driver::cuMemsetD8_v2(to, value as u8, bytes) }
    }

    fn cudaMemsetAsync [cudaMemsetAsync_ptsz] (to: u64, value: c_int, bytes: usize, stream: Handle) {
        ready()?;
        if bytes == 0 { Ok(()) } else { driver::cuMemsetD8Async(to, value as u8, bytes, stream) }
    }

    // Hints; there is nothing to move. The arguments differ between versions of CUDA.
    fn cudaMemPrefetchAsync [cudaMemPrefetchAsync_ptsz] (address: u64, bytes: usize) {
        ready()
    }

    fn cudaMemAdvise(address: u64, bytes: usize, advice: c_uint) {
        ready()
    }

    fn cudaPointerGetAttributes(to: *mut PointerAttributes, address: u64) {
        ready()?;
        // Memory that the driver does not know is the host's own. 2: which memory; 8: managed; 9:
        // the device; 3 and 4: the addresses there and on the host.
        let kind = match (pointer::<c_uint>(address, 2), pointer::<c_uint>(address, 8)) {
            (Err(_), _) => 0,
            (_, Ok(1..)) => 3,
            (Ok(kind), _) => kind,
        };
        let device = if kind == 0 { -2 } else { pointer(address, 9).unwrap_or(current()) };
        let on_device = if kind == 0 { 0 } else { pointer(address, 3).unwrap_or(0) };
        let on_host = if kind == 0 { address } else { pointer(address, 4).unwrap_or(0) };
        put(to, PointerAttributes { kind, device, on_device, on_host, reserved: [0; 8] })
    }
}
