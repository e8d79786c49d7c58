//! Structures of the driver's API, in which requests of the runtime library are passed on.

use std::ffi::{c_float, c_int, c_uint, c_void};

/// A handle of the driver's: a context, module, function, stream, event or array.
pub type Handle = usize;

/// `cudaHostFn_t`.
pub type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;
/// `cudaStreamCallback_t`.
pub type StreamCallback = Option<unsafe extern "C" fn(Handle, c_uint, *mut c_void)>;

/// `cudaIpcMemHandle_t` and `cudaIpcEventHandle_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct IpcHandle([u8; 64]);

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dim3 {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

/// `CUlaunchConfig`.
#[repr(C)]
pub struct DriverConfig {
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: c_uint,
    pub stream: Handle,
    pub attributes: *const c_void,
    pub count: c_uint,
}

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
pub struct Array2D {
    pub width: usize,
    pub height: usize,
    pub format: c_uint,
    pub channels: c_uint,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Array3D {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: c_uint,
    pub channels: c_uint,
    pub flags: c_uint,
}

/// `cudaExtent` and `cudaPos`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Triple {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// One side of `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Side2D {
    pub x: usize,
    pub y: usize,
    pub memory: c_uint,
    pub host: u64,
    pub device: u64,
    pub array: Handle,
    pub pitch: usize,
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy2D {
    pub from: Side2D,
    pub to: Side2D,
    pub width: usize,
    pub height: usize,
}

/// One side of `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Side3D {
    pub at: Triple,
    pub level: usize,
    pub memory: c_uint,
    pub host: u64,
    pub device: u64,
    pub array: Handle,
    pub reserved: usize,
    pub pitch: usize,
    pub height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3D {
    pub from: Side3D,
    pub to: Side3D,
    pub extent: Triple,
}

/// `CUDA_RESOURCE_DESC`.
#[repr(C)]
pub struct DriverResource {
    pub kind: c_uint,
    pub first: u64,
    pub format: c_uint,
    pub channels: c_uint,
    pub sizes: [usize; 3],
    pub reserved: [usize; 11],
    pub flags: c_uint,
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
pub struct DriverTexture {
    pub modes: [c_uint; 3],
    pub filter: c_uint,
    pub flags: c_uint,
    pub anisotropy: c_uint,
    pub mipmap_filter: c_uint,
    pub mipmap: [c_float; 3],
    pub border: [c_float; 4],
    pub reserved: [c_int; 12],
}
