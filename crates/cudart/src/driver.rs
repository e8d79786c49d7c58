//! The driver's functions, looked for in `libcuda.so.1` when the first is called.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::{LazyLock, OnceLock};

use libloading::os::unix::Library;

use crate::call::is_per_thread;
use crate::error::{Done, Error};
use crate::types::{
    Array2D, Array3D, Copy2D, Copy3D, DriverConfig, DriverResource, DriverTexture, Handle, HostFunction, IpcHandle,
    StreamCallback,
};

static LIBRARY: LazyLock<Option<Library>> = LazyLock::new(|| {
    // SAFETY: the driver's library does nothing but prepare itself when it is loaded.
    unsafe { Library::new("libcuda.so.1") }.ok()
});

macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?);)*) => {
        $(
            /// The driver's function of this name.
            pub fn $name($($argument: $type),*) -> Done {
                type Function = unsafe extern "C" fn($($type),*) -> u32;
                let find = |name: &str| {
                    // SAFETY: the signature is the driver's of that name.
                    let found = unsafe { LIBRARY.as_ref()?.get::<Function>(name.as_bytes()) };
                    found.ok().map(|function| *function)
                };
                static FOUND: OnceLock<Option<Function>> = OnceLock::new();
                static PER_THREAD: OnceLock<Option<Function>> = OnceLock::new();
                let plain = || *FOUND.get_or_init(|| find(concat!(stringify!($name), "\0")));
                let per_thread = || {
                    let stream = || find(concat!(stringify!($name), "_ptsz\0"));
                    let other = || find(concat!(stringify!($name), "_ptds\0"));
                    *PER_THREAD.get_or_init(|| stream().or_else(other).or_else(plain))
                };
                let function = if is_per_thread() { per_thread() } else { plain() };
                let function = function.ok_or(Error::NO_DRIVER)?;
                // SAFETY: pointers are the caller's of this library, of which the driver asks the
                // same, or to values that outlive the call.
                match unsafe { function($($argument),*) } {
                    0 => Ok(()),
                    error => Err(Error(error)),
                }
            }
        )*
    };
}

functions! {
    fn cuInit(flags: c_uint);
    fn cuDriverGetVersion(to: *mut c_int);
    fn cuGetProcAddress_v2(name: *const c_char, to: *mut usize, version: c_int, flags: u64, found: *mut c_uint);
    fn cuDeviceGetCount(to: *mut c_int);
    fn cuDeviceGetName(to: *mut u8, length: c_int, device: c_int);
    fn cuDeviceGetUuid_v2(to: *mut [u8; 16], device: c_int);
    fn cuDeviceTotalMem_v2(to: *mut usize, device: c_int);
    fn cuDeviceGetAttribute(to: *mut c_int, number: c_uint, device: c_int);
    fn cuDeviceGetPCIBusId(to: *mut u8, length: c_int, device: c_int);
    fn cuDeviceGetByPCIBusId(to: *mut c_int, id: *const c_char);
    fn cuDeviceCanAccessPeer(to: *mut c_int, device: c_int, peer: c_int);
    fn cuDevicePrimaryCtxRetain(to: *mut Handle, device: c_int);
    fn cuDevicePrimaryCtxReset_v2(device: c_int);
    fn cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: c_uint);
    fn cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int);
    fn cuCtxGetCurrent(to: *mut Handle);
    fn cuCtxSetCurrent(context: Handle);
    fn cuCtxSynchronize();
    fn cuCtxGetLimit(to: *mut usize, limit: c_uint);
    fn cuCtxSetLimit(limit: c_uint, value: usize);
    fn cuCtxGetCacheConfig(to: *mut c_uint);
    fn cuCtxSetCacheConfig(config: c_uint);
    fn cuCtxGetSharedMemConfig(to: *mut c_uint);
    fn cuCtxSetSharedMemConfig(config: c_uint);
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int);
    fn cuCtxEnablePeerAccess(context: Handle, flags: c_uint);
    fn cuCtxDisablePeerAccess(context: Handle);
    fn cuModuleLoadFatBinary(to: *mut Handle, image: *const c_void);
    fn cuModuleUnload(module: Handle);
    fn cuModuleGetFunction(to: *mut Handle, module: Handle, name: *const c_char);
    fn cuModuleGetGlobal_v2(to: *mut u64, bytes: *mut usize, module: Handle, name: *const c_char);
    fn cuLibraryGetManaged(to: *mut u64, bytes: *mut usize, library: Handle, name: *const c_char);
    fn cuFuncGetAttribute(to: *mut c_int, number: c_uint, function: Handle);
    fn cuFuncSetAttribute(function: Handle, number: c_uint, value: c_int);
    fn cuFuncSetCacheConfig(function: Handle, config: c_uint);
    fn cuFuncSetSharedMemConfig(function: Handle, config: c_uint);
    fn cuFuncGetName(to: *mut *const c_char, function: Handle);
    fn cuLaunchKernel(
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, shared: c_uint, stream: Handle, arguments: *const *const c_void, extra: *const c_void,
    );
    fn cuLaunchCooperativeKernel(
        function: Handle, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, shared: c_uint, stream: Handle, arguments: *const *const c_void,
    );
    fn cuLaunchKernelEx(
        config: *const DriverConfig, function: Handle, arguments: *const *const c_void, extra: *const c_void,
    );
    fn cuLaunchHostFunc(stream: Handle, function: HostFunction, data: *mut c_void);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        to: *mut c_int, function: Handle, threads: c_int, dynamic: usize, flags: c_uint,
    );
    fn cuOccupancyAvailableDynamicSMemPerBlock(to: *mut usize, function: Handle, blocks: c_int, threads: c_int);
    fn cuOccupancyMaxPotentialClusterSize(to: *mut c_int, function: Handle, config: *const DriverConfig);
    fn cuOccupancyMaxActiveClusters(to: *mut c_int, function: Handle, config: *const DriverConfig);
    fn cuMemAlloc_v2(to: *mut u64, bytes: usize);
    fn cuMemAllocPitch_v2(to: *mut u64, pitch: *mut usize, width: usize, height: usize, element: c_uint);
    fn cuMemAllocHost_v2(to: *mut u64, bytes: usize);
    fn cuMemHostAlloc(to: *mut u64, bytes: usize, flags: c_uint);
    fn cuMemAllocManaged(to: *mut u64, bytes: usize, flags: c_uint);
    fn cuMemAllocAsync(to: *mut u64, bytes: usize, stream: Handle);
    fn cuMemFree_v2(address: u64);
    fn cuMemFreeHost(address: u64);
    fn cuMemFreeAsync(address: u64, stream: Handle);
    fn cuIpcGetMemHandle(to: *mut IpcHandle, address: u64);
    fn cuIpcOpenMemHandle_v2(to: *mut u64, handle: IpcHandle, flags: c_uint);
    fn cuIpcCloseMemHandle(address: u64);
    fn cuIpcGetEventHandle(to: *mut IpcHandle, event: Handle);
    fn cuIpcOpenEventHandle(to: *mut Handle, handle: IpcHandle);
    fn cuMemGetInfo_v2(free: *mut usize, all: *mut usize);
    fn cuMemHostRegister_v2(address: u64, bytes: usize, flags: c_uint);
    fn cuMemHostUnregister(address: u64);
    fn cuMemHostGetDevicePointer_v2(to: *mut u64, address: u64, flags: c_uint);
    fn cuMemHostGetFlags(to: *mut c_uint, address: u64);
    fn cuPointerGetAttribute(to: *mut c_void, number: c_uint, address: u64);
    fn cuMemcpy(to: u64, from: u64, bytes: usize);
    fn cuMemcpyHtoD_v2(to: u64, from: u64, bytes: usize);
    fn cuMemcpyDtoH_v2(to: u64, from: u64, bytes: usize);
    fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize);
    fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, stream: Handle);
    fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle);
    fn cuMemcpyDtoHAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle);
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: Handle);
    fn cuMemcpy2DUnaligned_v2(copy: *const Copy2D);
    fn cuMemcpy2DAsync_v2(copy: *const Copy2D, stream: Handle);
    fn cuMemcpy3D_v2(copy: *const Copy3D);
    fn cuMemcpy3DAsync_v2(copy: *const Copy3D, stream: Handle);
    fn cuMemsetD8_v2(to: u64, value: u8, count: usize);
    fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: Handle);
    fn cuMemsetD2D8_v2(to: u64, pitch: usize, value: u8, width: usize, height: usize);
    fn cuMemsetD2D8Async(to: u64, pitch: usize, value: u8, width: usize, height: usize, stream: Handle);
    fn cuArrayCreate_v2(to: *mut Handle, array: *const Array2D);
    fn cuArray3DCreate_v2(to: *mut Handle, array: *const Array3D);
    fn cuArray3DGetDescriptor_v2(to: *mut Array3D, array: Handle);
    fn cuArrayDestroy(array: Handle);
    fn cuTexObjectCreate(
        to: *mut u64, resource: *const DriverResource, texture: *const DriverTexture, view: *const c_void,
    );
    fn cuTexObjectDestroy(texture: u64);
    fn cuSurfObjectCreate(to: *mut u64, resource: *const DriverResource);
    fn cuSurfObjectDestroy(surface: u64);
    fn cuStreamCreate(to: *mut Handle, flags: c_uint);
    fn cuStreamCreateWithPriority(to: *mut Handle, flags: c_uint, priority: c_int);
    fn cuStreamDestroy_v2(stream: Handle);
    fn cuStreamSynchronize(stream: Handle);
    fn cuStreamQuery(stream: Handle);
    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint);
    fn cuStreamAddCallback(stream: Handle, function: StreamCallback, data: *mut c_void, flags: c_uint);
    fn cuStreamGetFlags(stream: Handle, to: *mut c_uint);
    fn cuStreamGetPriority(stream: Handle, to: *mut c_int);
    fn cuStreamBeginCapture_v2(stream: Handle, mode: c_uint);
    fn cuStreamEndCapture(stream: Handle, to: *mut Handle);
    fn cuStreamIsCapturing(stream: Handle, to: *mut c_uint);
    fn cuGraphCreate(to: *mut Handle, flags: c_uint);
    fn cuGraphGetNodes(graph: Handle, to: *mut Handle, count: *mut usize);
    fn cuGraphInstantiateWithFlags(to: *mut Handle, graph: Handle, flags: u64);
    fn cuGraphLaunch(graph: Handle, stream: Handle);
    fn cuGraphDestroy(graph: Handle);
    fn cuGraphExecDestroy(graph: Handle);
    fn cuEventCreate(to: *mut Handle, flags: c_uint);
    fn cuEventRecord(event: Handle, stream: Handle);
    fn cuEventSynchronize(event: Handle);
    fn cuEventQuery(event: Handle);
    fn cuEventElapsedTime(to: *mut f32, begin: Handle, end: Handle);
    fn cuEventDestroy_v2(event: Handle);
}
