//! Devices. Each thread has one; its primary context is made current when the thread first needs
//! it.

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::call::{put, runtime};
use crate::driver;
use crate::error::{Done, Error};
use crate::types::Handle;

thread_local! {
    /// The device of this thread.
    static DEVICE: Cell<c_int> = const { Cell::new(0) };
}

/// The primary contexts that this library holds.
static CONTEXTS: LazyLock<Mutex<HashMap<c_int, Handle>>> = LazyLock::new(Mutex::default);

/// The device of this thread.
pub fn current() -> c_int {
    DEVICE.get()
}

/// The driver, initialised.
pub fn initialized() -> Done {
    static BEGUN: LazyLock<Done> = LazyLock::new(|| driver::cuInit(0));
    *BEGUN
}

/// The primary context of a device.
pub fn context(device: c_int) -> Done<Handle> {
    initialized()?;
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&known) = contexts.get(&device) {
        return Ok(known);
    }
    let mut context = 0;
    driver::cuDevicePrimaryCtxRetain(&mut context, device)?;
    contexts.insert(device, context);
    Ok(context)
}

/// Makes sure that this thread has a context.
pub fn ready() -> Done {
    initialized()?;
    let mut current = 0;
    driver::cuCtxGetCurrent(&mut current)?;
    if current == 0 { driver::cuCtxSetCurrent(context(DEVICE.get())?) } else { Ok(()) }
}

fn check(device: c_int) -> Done {
    initialized()?;
    let mut count = 0;
    driver::cuDeviceGetCount(&mut count)?;
    if (0..count).contains(&device) { Ok(()) } else { Err(Error::INVALID_DEVICE) }
}

runtime! {
    fn cudaDriverGetVersion(to: *mut c_int) {
        driver::cuDriverGetVersion(to)
    }

    fn cudaRuntimeGetVersion(to: *mut c_int) {
        driver::cuDriverGetVersion(to)
    }

    fn cudaGetDeviceCount(to: *mut c_int) {
        initialized()?;
        driver::cuDeviceGetCount(to)
    }

    fn cudaSetDevice(device: c_int) {
        check(device)?;
        DEVICE.set(device);
        driver::cuCtxSetCurrent(context(device)?)
    }

    fn cudaInitDevice(device: c_int, device_flags: c_uint, flags: c_uint) {
        check(device)?;
        context(device).map(|_| ())
    }

    fn cudaGetDevice(to: *mut c_int) {
        initialized()?;
        put(to, DEVICE.get())
    }

    fn cudaChooseDevice(to: *mut c_int, properties: *const u8) {
        put(to, 0)
    }

    fn cudaSetDeviceFlags(flags: c_uint) {
        initialized()?;
        driver::cuDevicePrimaryCtxSetFlags_v2(current(), flags)
    }

    fn cudaGetDeviceFlags(to: *mut c_uint) {
        initialized()?;
        let mut active = 0;
        driver::cuDevicePrimaryCtxGetState(current(), to, &mut active)
    }

    fn cudaDeviceGetAttribute(to: *mut c_int, number: c_uint, device: c_int) {
        check(device)?;
        driver::cuDeviceGetAttribute(to, number, device)
    }

    fn cudaDeviceGetPCIBusId(to: *mut u8, length: c_int, device: c_int) {
        check(device)?;
        driver::cuDeviceGetPCIBusId(to, length, device)
    }

    fn cudaDeviceGetByPCIBusId(to: *mut c_int, id: *const c_char) {
        initialized()?;
        driver::cuDeviceGetByPCIBusId(to, id)
    }

    fn cudaDeviceSynchronize() {
        ready()?;
        driver::cuCtxSynchronize()
    }

    fn cudaThreadSynchronize() {
        ready()?;
        driver::cuCtxSynchronize()
    }

    fn cudaDeviceGetLimit(to: *mut usize, limit: c_uint) {
        ready()?;
        driver::cuCtxGetLimit(to, limit)
    }

    fn cudaDeviceSetLimit(limit: c_uint, value: usize) {
        ready()?;
        driver::cuCtxSetLimit(limit, value)
    }

    fn cudaDeviceGetCacheConfig(to: *mut c_uint) {
        ready()?;
        driver::cuCtxGetCacheConfig(to)
    }

    fn cudaDeviceSetCacheConfig(config: c_uint) {
        ready()?;
        driver::cuCtxSetCacheConfig(config)
    }

    fn cudaDeviceGetSharedMemConfig(to: *mut c_uint) {
        ready()?;
        driver::cuCtxGetSharedMemConfig(to)
    }

    fn cudaDeviceSetSharedMemConfig(config: c_uint) {
        ready()?;
        driver::cuCtxSetSharedMemConfig(config)
    }

    fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        ready()?;
        driver::cuCtxGetStreamPriorityRange(least, greatest)
    }

    fn cudaDeviceCanAccessPeer(to: *mut c_int, device: c_int, peer: c_int) {
        check(device)?;
        check(peer)?;
        driver::cuDeviceCanAccessPeer(to, device, peer)
    }

    fn cudaDeviceEnablePeerAccess(peer: c_int, flags: c_uint) {
        check(peer)?;
        ready()?;
        driver::cuCtxEnablePeerAccess(context(peer)?, flags)
    }

    fn cudaDeviceDisablePeerAccess(peer: c_int) {
        check(peer)?;
        ready()?;
        driver::cuCtxDisablePeerAccess(context(peer)?)
    }

    fn cudaProfilerStart() {
        Ok(())
    }

    fn cudaProfilerStop() {
        Ok(())
    }

    fn cudaGetDriverEntryPoint(
        name: *const c_char, to: *mut usize, flags: u64, found: *mut c_uint,
    ) {
        driver::cuGetProcAddress_v2(name, to, 12_080, flags, found)
    }

    fn cudaGetDriverEntryPointByVersion(
        name: *const c_char, to: *mut usize, version: c_uint, flags: u64, found: *mut c_uint,
    ) {
        driver::cuGetProcAddress_v2(name, to, version as c_int, flags, found)
    }
}
