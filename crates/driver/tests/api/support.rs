//! The library, its functions, and kernels to run.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::ptr::{null, null_mut};

use libloading::Library;

pub type Handle = usize;
pub type Device = u64;

pub const INVALID_VALUE: u32 = 1;
pub const OUT_OF_MEMORY: u32 = 2;
pub const NOT_INITIALIZED: u32 = 3;
pub const INVALID_CONTEXT: u32 = 201;
pub const INVALID_HANDLE: u32 = 400;
pub const NOT_FOUND: u32 = 500;
pub const NOT_READY: u32 = 600;
pub const ILLEGAL_ADDRESS: u32 = 700;
pub const CONTEXT_IS_DESTROYED: u32 = 709;
pub const NOT_SUPPORTED: u32 = 801;

/// An instance of the driver.
pub struct Driver {
    library: Library,
    folder: tempfile::TempDir,
}

/// The library that cargo has built beside this test.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.with_file_name("libcoalesce_driver.so")
}

macro_rules! api {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        impl Driver {
            $(pub fn $name(&self, $($argument: $type),*) -> u32 {
                // SAFETY: the signature is the API's. Tests pass pointers to what it says, or null.
                unsafe {
                    let name = concat!(stringify!($name), "\0").as_bytes();
                    let function = self.library.get::<unsafe extern "C" fn($($type),*) -> u32>(name);
                    function.expect("the function is exported")($($argument),*)
                }
            })*
        }
    };
}

api! {
    cuInit(flags: c_uint);
    cuDeviceGet(to: *mut c_int, ordinal: c_int);
    cuDeviceGetCount(to: *mut c_int);
    cuDeviceGetName(to: *mut c_char, length: c_int, device: c_int);
    cuDeviceGetAttribute(to: *mut c_int, number: c_uint, device: c_int);
    cuDeviceTotalMem_v2(to: *mut usize, device: c_int);
    cuDeviceCanAccessPeer(to: *mut c_int, device: c_int, peer: c_int);
    cuDeviceGetPCIBusId(to: *mut c_char, length: c_int, device: c_int);
    cuDeviceGetByPCIBusId(to: *mut c_int, id: *const c_char);
    cuCtxGetDevice(to: *mut c_int);
    cuCtxEnablePeerAccess(context: Handle, flags: c_uint);
    cuCtxDisablePeerAccess(context: Handle);
    cuMemcpyPeer(to: Device, to_context: Handle, from: Device, from_context: Handle, bytes: usize);
    cuDevicePrimaryCtxRetain(to: *mut Handle, device: c_int);
    cuDevicePrimaryCtxReset_v2(device: c_int);
    cuCtxCreate_v2(to: *mut Handle, flags: c_uint, device: c_int);
    cuCtxDestroy_v2(context: Handle);
    cuCtxSetCurrent(context: Handle);
    cuCtxGetCurrent(to: *mut Handle);
    cuCtxPopCurrent_v2(to: *mut Handle);
    cuCtxPushCurrent_v2(context: Handle);
    cuCtxSynchronize();
    cuCtxGetLimit(to: *mut usize, limit: c_uint);
    cuCtxSetLimit(limit: c_uint, value: usize);
    cuMemAlloc_v2(to: *mut Device, bytes: usize);
    cuMemAllocPitch_v2(to: *mut Device, pitch: *mut usize, row: usize, rows: usize, element: c_uint);
    cuMemAllocManaged(to: *mut Device, bytes: usize, flags: c_uint);
    cuMemAllocHost_v2(to: *mut *mut u32, bytes: usize);
    cuMemFree_v2(address: Device);
    cuStreamWaitValue32_v2(stream: Handle, address: Device, value: c_uint, flags: c_uint);
    cuStreamWaitValue64_v2(stream: Handle, address: Device, value: u64, flags: c_uint);
    cuStreamBatchMemOp_v2(stream: Handle, count: c_uint, operations: *const MemoryOperation, flags: c_uint);
    cuLaunchHostFunc_v2(stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void, mode: c_uint);
    cuStreamGetCtx(stream: Handle, to: *mut Handle);
    cuStreamGetDevice(stream: Handle, to: *mut c_int);
    cuDriverGetVersion(to: *mut c_int);
    cuTensorMapReplaceAddress(map: *mut [u8; 128], address: u64);
    cuGraphAddMemAllocNode(to: *mut Handle, graph: Handle, after: *const Handle, count: usize, parameters: *mut AllocationNode);
    cuGraphMemAllocNodeGetParams(node: Handle, to: *mut AllocationNode);
    cuGraphAddMemFreeNode(to: *mut Handle, graph: Handle, after: *const Handle, count: usize, address: Device);
    cuGraphMemFreeNodeGetParams(node: Handle, to: *mut Device);
    cuDeviceGetGraphMemAttribute(device: c_int, number: c_uint, to: *mut u64);
    cuDeviceSetGraphMemAttribute(device: c_int, number: c_uint, value: *const u64);
    cuDeviceGraphMemTrim(device: c_int);
    cuDeviceGetDefaultMemPool(to: *mut Handle, device: c_int);
    cuDeviceGetMemPool(to: *mut Handle, device: c_int);
    cuDeviceSetMemPool(device: c_int, pool: Handle);
    cuMemPoolCreate(to: *mut Handle, properties: *const PoolProperties);
    cuMemPoolDestroy(pool: Handle);
    cuMemPoolTrimTo(pool: Handle, bytes: usize);
    cuMemPoolSetAttribute(pool: Handle, number: c_uint, value: *const u64);
    cuMemPoolGetAttribute(pool: Handle, number: c_uint, value: *mut u64);
    cuMemAllocFromPoolAsync(to: *mut Device, bytes: usize, pool: Handle, stream: Handle);
    cuStreamWriteValue32_v2(stream: Handle, address: Device, value: c_uint, flags: c_uint);
    cuStreamWriteValue64_v2(stream: Handle, address: Device, value: u64, flags: c_uint);
    cuMemFreeHost(address: *mut u32);
    cuMemGetAllocationGranularity(to: *mut usize, properties: *const Properties, option: c_uint);
    cuMemAddressReserve(to: *mut Device, bytes: usize, alignment: usize, address: Device, flags: u64);
    cuMemAddressFree(address: Device, bytes: usize);
    cuMemCreate(to: *mut Handle, bytes: usize, properties: *const Properties, flags: u64);
    cuMemRelease(memory: Handle);
    cuMemRetainAllocationHandle(to: *mut Handle, address: Device);
    cuMemGetAllocationPropertiesFromHandle(to: *mut Properties, memory: Handle);
    cuMemMap(address: Device, bytes: usize, offset: usize, memory: Handle, flags: u64);
    cuMemUnmap(address: Device, bytes: usize);
    cuMemSetAccess(address: Device, bytes: usize, list: *const MapAccess, count: usize);
    cuMemGetAccess(flags: *mut u64, location: *const Location, address: Device);
    cuMemcpy(to: Device, from: Device, bytes: usize);
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    cuMemHostRegister_v2(host: *mut u32, bytes: usize, flags: c_uint);
    cuMemHostUnregister(host: *mut u32);
    cuMemHostGetDevicePointer_v2(to: *mut Device, host: *mut u32, flags: c_uint);
    cuMemGetAddressRange_v2(base: *mut Device, bytes: *mut usize, address: Device);
    cuPointerGetAttribute(to: *mut c_void, number: c_uint, address: Device);
    cuMemcpyHtoD_v2(to: Device, from: *const u32, bytes: usize);
    cuMemcpyDtoH_v2(to: *mut u32, from: Device, bytes: usize);
    cuMemcpyDtoD_v2(to: Device, from: Device, bytes: usize);
    cuMemcpyDtoDAsync_v2(to: Device, from: Device, bytes: usize, stream: Handle);
    cuMemcpy2D_v2(request: *const Copy2D);
    cuMemsetD8_v2(to: Device, value: u8, count: usize);
    cuMemsetD32_v2(to: Device, value: u32, count: usize);
    cuMemsetD2D32_v2(to: Device, pitch: usize, value: u32, width: usize, rows: usize);
    cuModuleLoadData(to: *mut Handle, image: *const c_void);
    cuModuleLoadDataEx(to: *mut Handle, image: *const c_void, count: c_uint, options: *const c_uint, values: *const *mut c_void);
    cuModuleUnload(module: Handle);
    cuModuleGetFunction(to: *mut Handle, module: Handle, name: *const c_char);
    cuModuleGetGlobal_v2(to: *mut Device, bytes: *mut usize, module: Handle, name: *const c_char);
    cuLibraryLoadData(to: *mut Handle, image: *const c_void, a: *const c_uint, b: *const c_void, count: c_uint, c: *const c_uint, d: *const c_void, more: c_uint);
    cuLibraryGetKernel(to: *mut Handle, library: Handle, name: *const c_char);
    cuKernelGetName(to: *mut *const c_char, kernel: Handle);
    cuMemcpyHtoDAsync_v2(to: Device, from: *const u32, bytes: usize, stream: Handle);
    cuFuncSetAttribute(function: Handle, number: c_uint, value: c_int);
    cuFuncSetCacheConfig(function: Handle, config: c_uint);
    cuFuncGetAttribute(to: *mut c_int, number: c_uint, function: Handle);
    nvJitLinkCreate(to: *mut Handle, count: c_uint, options: *const *const c_char);
    nvJitLinkAddData(link: Handle, kind: c_uint, data: *const u8, bytes: usize, name: *const c_char);
    nvJitLinkAddFile(link: Handle, kind: c_uint, path: *const c_char);
    nvJitLinkComplete(link: Handle);
    nvJitLinkGetLinkedCubinSize(link: Handle, bytes: *mut usize);
    nvJitLinkGetLinkedCubin(link: Handle, to: *mut u8);
    nvJitLinkGetErrorLogSize(link: Handle, bytes: *mut usize);
    nvJitLinkGetErrorLog(link: Handle, to: *mut u8);
    nvJitLinkDestroy(link: *mut Handle);
    nvJitLinkVersion(major: *mut c_uint, minor: *mut c_uint);
    cuLinkCreate_v2(count: c_uint, options: *const c_uint, values: *const c_void, to: *mut Handle);
    cuLinkAddData_v2(link: Handle, kind: c_uint, data: *const u8, bytes: usize, name: *const c_char, count: c_uint, options: *const c_uint, values: *const c_void);
    cuLinkComplete(link: Handle, image: *mut *const c_void, bytes: *mut usize);
    cuLinkDestroy(link: Handle);
    cuLaunchKernel(function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, stream: Handle, arguments: *const *const c_void, extra: *const *const c_void);
    cuOccupancyMaxPotentialBlockSize(
        least: *mut c_int, size: *mut c_int, function: Handle, of_size: *const c_void, shared: usize, limit: c_int
    );
    cuOccupancyMaxActiveBlocksPerMultiprocessor(to: *mut c_int, function: Handle, threads: c_int, shared: usize);
    cuStreamCreate(to: *mut Handle, flags: c_uint);
    cuStreamDestroy_v2(stream: Handle);
    cuStreamSynchronize(stream: Handle);
    cuStreamQuery(stream: Handle);
    cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint);
    cuLaunchHostFunc(stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void);
    cuEventCreate(to: *mut Handle, flags: c_uint);
    cuEventDestroy_v2(event: Handle);
    cuEventRecord(event: Handle, stream: Handle);
    cuEventSynchronize(event: Handle);
    cuEventElapsedTime(to: *mut f32, from: Handle, until: Handle);
    cuArray3DCreate_v2(to: *mut Handle, request: *const Descriptor3D);
    cuArrayDestroy(array: Handle);
    cuArray3DGetDescriptor_v2(to: *mut Descriptor3D, array: Handle);
    cuMipmappedArrayCreate(to: *mut Handle, request: *const Descriptor3D, levels: c_uint);
    cuMipmappedArrayGetLevel(to: *mut Handle, array: Handle, level: c_uint);
    cuMipmappedArrayDestroy(array: Handle);
    cuSurfObjectCreate(to: *mut u64, resource: *const Resource);
    cuTexObjectCreate(to: *mut u64, resource: *const Resource, texture: *const Texture, view: *const c_void);
    cuTexObjectDestroy(texture: u64);
    cuModuleGetTexRef(to: *mut Handle, module: Handle, name: *const c_char);
    cuModuleGetSurfRef(to: *mut Handle, module: Handle, name: *const c_char);
    cuTexRefSetArray(reference: Handle, array: Handle, flags: c_uint);
    cuTexRefGetArray(to: *mut Handle, reference: Handle);
    cuTexRefSetAddress_v2(offset: *mut usize, reference: Handle, address: Device, bytes: usize);
    cuTexRefSetAddress2D_v3(reference: Handle, plane: *const Plane, address: Device, pitch: usize);
    cuTexRefGetAddress_v2(to: *mut Device, reference: Handle);
    cuTexRefSetFormat(reference: Handle, format: c_uint, channels: c_int);
    cuTexRefGetFormat(format: *mut c_uint, channels: *mut c_uint, reference: Handle);
    cuTexRefSetFlags(reference: Handle, flags: c_uint);
    cuTexRefSetFilterMode(reference: Handle, mode: c_uint);
    cuTexRefSetAddressMode(reference: Handle, dimension: c_int, mode: c_uint);
    cuTexRefGetAddressMode(to: *mut c_uint, reference: Handle, dimension: c_int);
    cuTexRefSetBorderColor(reference: Handle, color: *const f32);
    cuTexRefGetBorderColor(to: *mut f32, reference: Handle);
    cuTexRefCreate(to: *mut Handle);
    cuTexRefDestroy(reference: Handle);
    cuSurfRefSetArray(reference: Handle, array: Handle, flags: c_uint);
    cuSurfRefGetArray(to: *mut Handle, reference: Handle);
    cuMemsetD32Async_ptsz(to: Device, value: u32, count: usize, stream: Handle);
    cuStreamSynchronize_ptsz(stream: Handle);
    cuStreamBeginCapture_v2_ptsz(stream: Handle, mode: c_uint);
    cuStreamEndCapture_ptsz(stream: Handle, to: *mut Handle);
    cuMemcpyDtoH_v2_ptds(to: *mut u32, from: Device, bytes: usize);
    cuTensorMapEncodeTiled(to: *mut [u8; 128], element: c_uint, rank: c_uint, address: u64, dimensions: *const u64, strides: *const u64, extents: *const c_uint, steps: *const c_uint, interleave: c_uint, swizzle: c_uint, promotion: c_uint, fill: c_uint);
    cuGetProcAddress_v2(name: *const c_char, to: *mut *const c_void, version: c_int, flags: u64, found: *mut c_uint);
    coalesce_record_begin(settings: *const c_char, problem: *mut u8, room: usize);
    coalesce_record_end();
    cuGetErrorName(number: c_uint, to: *mut *const c_char);
    cuGetErrorString(number: c_uint, to: *mut *const c_char);
    cuGetExportTable(to: *mut *const c_void, id: *const [u8; 16]);
    cuUserObjectCreate(to: *mut Handle, data: *mut c_void, destroy: Option<unsafe extern "C" fn(*mut c_void)>, references: c_uint, flags: c_uint);
    cuUserObjectRelease(object: Handle, count: c_uint);
    cuGraphRetainUserObject(graph: Handle, object: Handle, count: c_uint, flags: c_uint);
    cuIpcGetMemHandle(to: *mut IpcHandle, address: Device);
    cuIpcOpenMemHandle_v2(to: *mut Device, handle: IpcHandle, flags: c_uint);
    cuIpcCloseMemHandle(address: Device);
    cuIpcGetEventHandle(to: *mut IpcHandle, event: Handle);
    cuIpcOpenEventHandle(to: *mut Handle, handle: IpcHandle);
    cuEventQuery(event: Handle);
    cuMemsetD32Async(to: Device, value: u32, count: usize, stream: Handle);
    cuMemcpyDtoHAsync_v2(to: *mut u32, from: Device, bytes: usize, stream: Handle);
    cuMemAllocAsync(to: *mut Device, bytes: usize, stream: Handle);
    cuMemFreeAsync(address: Device, stream: Handle);
    cuStreamBeginCapture_v2(stream: Handle, mode: c_uint);
    cuStreamEndCapture(stream: Handle, to: *mut Handle);
    cuStreamIsCapturing(stream: Handle, to: *mut c_uint);
    cuStreamGetCaptureInfo_v2(stream: Handle, status: *mut c_uint, id: *mut u64, graph: *mut Handle, nodes: *mut *const Handle, count: *mut usize);
    cuGraphCreate(to: *mut Handle, flags: c_uint);
    cuGraphDestroy(graph: Handle);
    cuGraphClone(to: *mut Handle, graph: Handle);
    cuGraphNodeFindInClone(to: *mut Handle, node: Handle, graph: Handle);
    cuGraphDestroyNode(node: Handle);
    cuGraphGetNodes(graph: Handle, to: *mut Handle, count: *mut usize);
    cuGraphGetRootNodes(graph: Handle, to: *mut Handle, count: *mut usize);
    cuGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, count: *mut usize);
    cuGraphNodeGetType(node: Handle, to: *mut c_uint);
    cuGraphAddDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize);
    cuGraphRemoveDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize);
    cuGraphAddEmptyNode(to: *mut Handle, graph: Handle, after: *const Handle, count: usize);
    cuGraphAddKernelNode(to: *mut Handle, graph: Handle, after: *const Handle, count: usize, parameters: *const KernelNode);
    cuGraphKernelNodeGetParams(node: Handle, to: *mut KernelNode);
    cuGraphAddMemsetNode(to: *mut Handle, graph: Handle, after: *const Handle, count: usize, fill: *const FillNode, context: Handle);
    cuGraphAddMemcpyNode(to: *mut Handle, graph: Handle, after: *const Handle, count: usize, copy: *const Copy3D, context: Handle);
    cuGraphMemcpyNodeGetParams(node: Handle, to: *mut Copy3D);
    cuGraphAddHostNode(to: *mut Handle, graph: Handle, after: *const Handle, count: usize, call: *const HostNode);
    cuGraphAddChildGraphNode(to: *mut Handle, graph: Handle, after: *const Handle, count: usize, child: Handle);
    cuGraphInstantiateWithFlags(to: *mut Handle, graph: Handle, flags: u64);
    cuGraphExecUpdate_v2(executable: Handle, graph: Handle, result: *mut UpdateResult);
    cuGraphNodeSetEnabled(executable: Handle, node: Handle, enabled: c_uint);
    cuGraphLaunch(executable: Handle, stream: Handle);
    cuGraphExecDestroy(executable: Handle);
}

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    pub kind: c_uint,
    pub device: c_int,
}

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Properties {
    pub kind: c_uint,
    pub handles: c_uint,
    pub location: Location,
    pub rest: [u64; 2],
}

/// `CUmemPoolProps`.
#[repr(C)]
pub struct PoolProperties {
    pub kind: c_uint,
    pub handles: c_uint,
    pub location: Location,
    pub rest: [u64; 9],
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct AllocationNode {
    pub pool: [u64; 11],
    pub access: [usize; 2],
    pub bytes: usize,
    pub address: Device,
}

/// `CUstreamBatchMemOpParams`.
#[repr(C)]
pub struct MemoryOperation {
    pub kind: c_uint,
    pub address: Device,
    pub value: u64,
    pub flags: c_uint,
    pub rest: [u64; 2],
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MapAccess {
    pub location: Location,
    pub flags: c_uint,
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Side2D {
    pub x: usize,
    pub y: usize,
    pub kind: c_uint,
    pub host: *const u32,
    pub device: Device,
    pub array: Handle,
    pub pitch: usize,
}

impl Side2D {
    pub const NONE: Self = Self { x: 0, y: 0, kind: 0, host: null(), device: 0, array: 0, pitch: 0 };

    pub fn host(host: *const u32, pitch: usize) -> Self {
        Self { kind: 1, host, pitch, ..Self::NONE }
    }

    pub fn device(device: Device, pitch: usize) -> Self {
        Self { kind: 2, device, pitch, ..Self::NONE }
    }

    pub fn array(array: Handle) -> Self {
        Self { kind: 3, array, ..Self::NONE }
    }
}

#[repr(C)]
pub struct Copy2D {
    pub from: Side2D,
    pub to: Side2D,
    pub width: usize,
    pub height: usize,
}

/// `CUipcMemHandle`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IpcHandle(pub [u8; 64]);

/// `CUDA_KERNEL_NODE_PARAMS_v1`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNode {
    pub function: Handle,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared: c_uint,
    pub arguments: *const *const c_void,
    pub extra: *const c_void,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
pub struct FillNode {
    pub to: Device,
    pub pitch: usize,
    pub value: c_uint,
    pub each: c_uint,
    pub width: usize,
    pub rows: usize,
}

/// `CUDA_HOST_NODE_PARAMS`.
#[repr(C)]
pub struct HostNode {
    pub function: Option<unsafe extern "C" fn(*mut c_void)>,
    pub data: *mut c_void,
}

/// `CUgraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Default)]
pub struct UpdateResult {
    pub result: c_uint,
    pub node: Handle,
    pub from: Handle,
}

/// One side of a `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Side3D {
    pub at: [usize; 4],
    pub kind: c_uint,
    pub host: *const u32,
    pub device: Device,
    pub rest: [usize; 4],
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3D {
    pub from: Side3D,
    pub to: Side3D,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Descriptor3D {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: c_uint,
    pub channels: c_uint,
    pub flags: c_uint,
}

/// `CUDA_RESOURCE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Resource {
    pub kind: c_uint,
    pub padding: c_uint,
    pub first: u64,
    pub rest: [u64; 16],
}

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Plane {
    pub width: usize,
    pub height: usize,
    pub format: c_uint,
    pub channels: c_uint,
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Texture {
    pub numbers: [c_uint; 16],
    pub reserved: [c_uint; 12],
}

pub const KERNELS: &str = "\
.version 7.8
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry add(.param .u64 out, .param .u64 in, .param .u32 n) {
    .reg .pred %p<2>;
    .reg .b32 %r<10>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r6, [%rd4];
    ld.global.u32 %r7, [%rd5];
    add.u32 %r8, %r6, %r7;
    st.global.u32 [%rd4], %r8;
done:
    ret;
}
.visible .entry trapping() {
    trap;
}
.visible .entry local() {
    .local .align 8 .b8 own[8];
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    mov.u64 %rd1, own;
    cvta.local.u64 %rd1, %rd1;
    atom.add.u32 %r1, [%rd1], 1;
    ret;
}
.visible .entry endless() {
    .reg .b32 %r<2>;
again:
    atom.global.add.u32 %r1, [counter], 1;
    bra again;
}
.visible .entry count() {
    .reg .b32 %r<2>;
    atom.global.add.u32 %r1, [counter], 1;
    ret;
}
";

impl Driver {
    /// An instance without a context.
    pub fn bare() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let copy = folder.path().join("libcuda.so.1");
        std::fs::copy(library(), &copy).expect("the library is built");
        // SAFETY: the library's constructors do nothing.
        let library = unsafe { Library::new(&copy) }.expect("the library loads");
        Self { library, folder }
    }

    /// Where the instance's library is.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("libcuda.so.1")
    }

    /// An instance whose primary context is current.
    pub fn new() -> Self {
        let driver = Self::bare();
        assert_eq!(driver.cuInit(0), 0);
        driver.use_primary();
        driver
    }

    /// Makes the primary context this thread's current one.
    pub fn use_primary(&self) {
        let mut context = 0;
        assert_eq!(self.cuDevicePrimaryCtxRetain(&mut context, 0), 0);
        assert_eq!(self.cuCtxSetCurrent(context), 0);
    }

    /// Whether a function is exported.
    pub fn has(&self, name: &str) -> bool {
        let name = CString::new(name).expect("a name");
        // SAFETY: only its address is asked for.
        unsafe { self.library.get::<*const ()>(name.as_bytes_with_nul()) }.is_ok()
    }

    /// Calls a function with nothing but zeros, as many as any has arguments.
    pub fn call_with_zeros(&self, name: &str) -> u32 {
        let name = CString::new(name).expect("a name");
        type Zeros = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u32;
        // SAFETY: in C's convention a function ignores further arguments; a zero is a null pointer,
        // no handle, or a size of nothing, all of which the API has statuses for.
        unsafe {
            let function = self.library.get::<Zeros>(name.as_bytes_with_nul()).expect("it is exported");
            function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        }
    }

    /// Memory of the device with these words.
    pub fn words(&self, words: &[u32]) -> Device {
        let mut address = 0;
        assert_eq!(self.cuMemAlloc_v2(&mut address, size_of_val(words)), 0);
        assert_eq!(self.cuMemcpyHtoD_v2(address, words.as_ptr(), size_of_val(words)), 0);
        address
    }

    /// Words of the device's memory.
    pub fn read(&self, address: Device, count: usize) -> Vec<u32> {
        let mut words = vec![0; count];
        assert_eq!(self.cuMemcpyDtoH_v2(words.as_mut_ptr(), address, 4 * count), 0);
        words
    }

    /// A loaded module.
    pub fn module(&self, ptx: &str) -> Handle {
        let text = CString::new(ptx).expect("PTX");
        let mut module = 0;
        assert_eq!(self.cuModuleLoadData(&mut module, text.as_ptr().cast()), 0);
        module
    }

    /// A kernel of a module.
    pub fn kernel(&self, module: Handle, name: &str) -> Handle {
        let name = CString::new(name).expect("a name");
        let mut function = 0;
        assert_eq!(self.cuModuleGetFunction(&mut function, module, name.as_ptr()), 0);
        function
    }

    /// Launches a kernel in one dimension.
    pub fn launch(&self, function: Handle, grid: u32, block: u32, arguments: &[*const c_void]) -> u32 {
        self.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, 0, arguments.as_ptr(), null())
    }

    /// Launches `add`.
    pub fn add(&self, function: Handle, grid: u32, block: u32, out: Device, input: Device, count: u32) -> u32 {
        self.launch(
            function,
            grid,
            block,
            &[(&raw const out).cast(), (&raw const input).cast(), (&raw const count).cast()],
        )
    }
}

/// Runs the body in a process of its own, with these variables of the environment. `test` is the
/// name of the calling test. Returns what the process wrote, or nothing in that process itself.
pub fn in_child(test: &str, environment: &[(&str, &str)], body: impl FnOnce(&Driver)) -> Option<Output> {
    const NAME: &str = "COALESCE_DRIVER_TEST";
    if std::env::var(NAME).is_ok_and(|name| name == test) {
        body(&Driver::new());
        return None;
    }
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(NAME, test);
    let output = command.envs(environment.iter().copied()).output().expect("the test runs");
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    Some(output)
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A text that the driver points to.
pub fn pointed(text: *const c_char) -> String {
    assert!(!text.is_null());
    // SAFETY: the driver gave a text that ends with a zero byte.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

pub fn null_pointer<T>() -> *mut T {
    null_mut()
}
