//! A fake CUDA driver, so that the host's GPU code can be tested without a GPU. Device memory is
//! the process's own, and kernels do nothing. The tests of `tests/program/gpu.rs` compile it to
//! `libcuda.so.1`. The environment controls it:
//!
//! - `FAKE_CUDA_FAILS=FUNCTION:STATUS` makes a function fail, `FUNCTION:STATUS:N` from its Nth call on;
//! - `FAKE_CUDA_DEVICES` is the number of GPUs, `FAKE_CUDA_MAJOR` their compute capability,
//!   `FAKE_CUDA_L2` the size of their level-2 cache, `FAKE_CUDA_MEMORY` that of their memory;
//! - `FAKE_CUDA_LAUNCHES` is a file to which each launch adds a line: its grid and its block;
//! - `FAKE_CUDA_CALLS` is a file to which each call adds a line, the function's name;
//! - with `FAKE_CUDA_COUNTS`, each kernel adds 1 to the first word of its first argument's buffer,
//!   and the line in that file begins with what was there.
#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

use std::alloc::{Layout, alloc_zeroed};
use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::io::Write as _;
use std::sync::Mutex;

/// The GPU's memory in bytes.
fn memory() -> usize {
    std::env::var("FAKE_CUDA_MEMORY").map_or(1 << 30, |text| text.parse().unwrap())
}

/// The text of the module that was loaded last, and its variables.
static TEXT: Mutex<String> = Mutex::new(String::new());
static VARIABLES: Mutex<Option<HashMap<String, u64>>> = Mutex::new(None);

static CALLS: Mutex<Option<HashMap<&str, u32>>> = Mutex::new(None);

/// The status of a call: 0, or the one that the environment sets.
fn status(function: &'static str) -> u32 {
    let mut calls = CALLS.lock().unwrap();
    let count = calls.get_or_insert_default().entry(function).or_default();
    *count += 1;
    if let Some(file) = std::env::var_os("FAKE_CUDA_CALLS") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        writeln!(file, "{function}").unwrap();
    }
    let Ok(wanted) = std::env::var("FAKE_CUDA_FAILS") else { return 0 };
    let mut parts = wanted.split(':');
    if parts.next() != Some(function) {
        return 0;
    }
    let status = parts.next().and_then(|text| text.parse().ok()).unwrap_or(999);
    let from: u32 = parts.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    if *count >= from { status } else { 0 }
}

/// Declares functions of the driver, with what each does unless it is to fail.
macro_rules! driver {
    ($($name:ident($($argument:ident: $type:ty),*) $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
                $(let _ = &$argument;)*
                match status(stringify!($name)) {
                    // SAFETY: the caller keeps the driver's contract.
                    0 => {
                        #[allow(unused_unsafe)] // not every function has a pointer
                        unsafe { $body }
                        0
                    }
                    status => status,
                }
            }
        )*
    };
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
pub struct ArrayDescriptor {
    width: usize,
    height: usize,
    depth: usize,
    format: u32,
    channels: u32,
    flags: u32,
}

/// An array, with x varying fastest and without gaps. Its handle is its address.
struct Array {
    texels: Vec<u8>,
}

impl Array {
    /// The format's number decides the size of a component: 8-bit integers are 1 and 8, 16-bit formats 2, 9 and 16.
    fn handle(descriptor: &ArrayDescriptor, level: u32) -> *mut c_void {
        let component = match descriptor.format {
            1 | 8 => 1,
            2 | 9 | 16 => 2,
            _ => 4,
        };
        let extents = [descriptor.width, descriptor.height, descriptor.depth].map(|texels| (texels >> level).max(1));
        let bytes = extents.iter().product::<usize>() * descriptor.channels as usize * component;
        Box::into_raw(Box::new(Array { texels: vec![0; bytes] })).cast()
    }
}

/// One side of `CUDA_MEMCPY3D`.
#[repr(C)]
pub struct Side3D {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: u32,
    host: *mut u8,
    device: u64,
    array: *mut c_void,
    reserved: *mut c_void,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
pub struct Copy3D {
    from: Side3D,
    to: Side3D,
    width: usize,
    height: usize,
    depth: usize,
}

impl Side3D {
    /// The bytes. The host only copies whole levels without gaps.
    unsafe fn bytes(&self, width: usize) -> *mut u8 {
        if self.kind == 3 {
            // SAFETY: the handle is an array's.
            unsafe { (*self.array.cast::<Array>()).texels.as_mut_ptr() }
        } else {
            assert_eq!(self.pitch, width);
            self.host
        }
    }
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
pub struct Copy2D {
    from: Side,
    to: Side,
    width: usize,
    height: usize,
}

#[repr(C)]
struct Side {
    x: usize,
    y: usize,
    kind: u32,
    host: *mut u8,
    device: u64,
    array: *mut c_void,
    pitch: usize,
}

impl Side {
    fn row(&self, row: usize) -> *mut u8 {
        let base = if self.kind == 1 { self.host } else { self.device as *mut u8 };
        base.wrapping_add((self.y + row) * self.pitch + self.x)
    }
}

fn allocate(bytes: usize) -> u64 {
    // Never freed: the process is short-lived.
    unsafe { alloc_zeroed(Layout::from_size_align(bytes.max(1), 512).unwrap()) as u64 }
}

/// A pointer that is not null, for all of the driver's objects.
fn object() -> *mut c_void {
    8 as *mut c_void
}

/// Adds a launch to the file of launches, and the word that it found, if it counts.
fn record(found: Option<u32>, shape: [u32; 6]) {
    use std::io::Write;
    let Ok(path) = std::env::var("FAKE_CUDA_LAUNCHES") else { return };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    let found = found.map(|word| format!("{word} ")).unwrap_or_default();
    writeln!(file, "{found}{:?} {:?}", &shape[..3], &shape[3..]).unwrap();
}

driver! {
    cuArray3DCreate_v2(array: *mut *mut c_void, descriptor: *const ArrayDescriptor) { *array = Array::handle(&*descriptor, 0); }
    cuArrayDestroy(array: *mut c_void) {}
    cuMipmappedArrayCreate(array: *mut *mut c_void, descriptor: *const ArrayDescriptor, levels: u32) {
        let levels: Vec<usize> = (0..levels).map(|level| Array::handle(&*descriptor, level) as usize).collect();
        *array = Box::into_raw(Box::new(levels)).cast();
    }
    cuMipmappedArrayDestroy(array: *mut c_void) {}
    cuMipmappedArrayGetLevel(level: *mut *mut c_void, array: *mut c_void, index: u32) {
        *level = (&*array.cast::<Vec<usize>>())[index as usize] as *mut c_void;
    }
    cuMemcpy3D_v2(copy: *const Copy3D) {
        let copy = &*copy;
        let bytes = copy.width * copy.height.max(1) * copy.depth.max(1);
        std::ptr::copy(copy.from.bytes(copy.width), copy.to.bytes(copy.width), bytes);
    }
    cuTexObjectCreate(texture: *mut u64, resource: *const c_void, sampling: *const c_void, view: *const c_void) {
        *texture = 1;
    }
    cuTexObjectDestroy(texture: u64) {}
    cuSurfObjectCreate(surface: *mut u64, resource: *const c_void) { *surface = 2; }
    cuSurfObjectDestroy(surface: u64) {}
    cuTensorMapEncodeTiled(
        map: *mut [u8; 128], element: u32, rank: u32, address: *mut c_void, dimensions: *const u64, strides: *const u64,
        extents: *const u32, steps: *const u32, interleave: u32, swizzle: u32, promotion: u32, fill: u32
    ) {
        // As in the tests of `gpu.rs`.
        assert_eq!(map as usize % 64, 0, "the map is aligned");
        assert_eq!((element, rank, interleave, swizzle, promotion, fill), (8, 2, 0, 3, 2, 1));
        assert_eq!(address as usize % 16, 0, "the tensor is aligned");
        assert_eq!((*dimensions.cast::<[u64; 2]>(), *strides), ([16, 8], 128));
        assert_eq!((*extents.cast::<[u32; 2]>(), *steps.cast::<[u32; 2]>()), ([16, 4], [1, 2]));
        *map = [7; 128];
    }
    cuTensorMapEncodeIm2col(
        map: *mut [u8; 128], element: u32, rank: u32, address: *mut c_void, dimensions: *const u64, strides: *const u64,
        lower: *const i32, upper: *const i32, channels: u32, pixels: u32, steps: *const u32, interleave: u32, swizzle: u32,
        promotion: u32, fill: u32
    ) {
        assert_eq!((element, rank, interleave, swizzle, promotion, fill), (1, 4, 1, 0, 0, 0));
        assert_eq!((*dimensions.cast::<[u64; 4]>(), *strides.cast::<[u64; 3]>()), ([8, 5, 4, 2], [128, 640, 2560]));
        assert_eq!((*lower.cast::<[i32; 2]>(), *upper.cast::<[i32; 2]>()), ([-1, 0], [-1, -2]));
        assert_eq!((channels, pixels, *steps.cast::<[u32; 4]>()), (8, 6, [1; 4]));
        *map = [9; 128];
    }
    cuInit(flags: u32) {}
    cuDriverGetVersion(version: *mut i32) { *version = 13_000; }
    cuDeviceGetCount(count: *mut i32) {
        *count = std::env::var("FAKE_CUDA_DEVICES").map_or(1, |text| text.parse().unwrap());
    }
    cuDeviceGet(device: *mut i32, index: i32) { *device = index; }
    cuDeviceGetAttribute(value: *mut i32, attribute: u32, device: i32) {
        *value = match attribute {
            // Threads of a block, shared memory of a block, and with an opt-in.
            1 => 1024,
            8 => 48 << 10,
            97 => 227 << 10,
            // Clocks in kHz, and the width of the bus.
            13 => 1_980_000,
            36 => 3_201_000,
            37 => 6016,
            // A level-2 cache so small that flushing it takes no time.
            38 => std::env::var("FAKE_CUDA_L2").map_or(64, |text| text.parse().unwrap()),
            // Domain, bus and device on the PCI bus.
            50 => 0,
            33 => 0x1b,
            34 => 0,
            // Compute capability.
            75 => std::env::var("FAKE_CUDA_MAJOR").map_or(9, |text| text.parse().unwrap()),
            76 => 0,
            _ => 64,
        };
    }
    cuDeviceGetName(name: *mut c_char, length: i32, device: i32) {
        std::ptr::copy_nonoverlapping(c"Fake GPU".as_ptr(), name, 9);
    }
    cuDeviceTotalMem_v2(bytes: *mut usize, device: i32) { *bytes = memory(); }
    cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: i32) { *context = object(); }
    cuDevicePrimaryCtxRelease_v2(device: i32) {}
    cuCtxSetCurrent(context: *mut c_void) {}
    cuCtxResetPersistingL2Cache() {}
    cuCtxSetCacheConfig(config: u32) {}
    cuMemAllocHost_v2(memory: *mut *mut c_void, bytes: usize) { *memory = allocate(bytes) as *mut c_void; }
    cuMemFreeHost(memory: *mut c_void) {}
    cuMemcpyHtoDAsync_v2(to: u64, from: *const u8, bytes: usize, stream: *mut c_void) {
        std::ptr::copy(from, to as *mut u8, bytes);
    }
    cuStreamWaitEvent(stream: *mut c_void, event: *mut c_void, flags: u32) {}
    cuModuleGetGlobal_v2(address: *mut u64, bytes: *mut usize, module: *mut c_void, name: *const c_char) {
        // Its size is in the text: `.const .align 4 .b8 NAME[32]`. A variable keeps its address.
        let name = std::ffi::CStr::from_ptr(name).to_str().unwrap();
        let text = TEXT.lock().unwrap();
        let rest = text.split(&format!(" {name}[")).nth(1);
        *bytes = rest.and_then(|rest| rest.split(']').next()?.parse().ok()).unwrap_or(0);
        let mut variables = VARIABLES.lock().unwrap();
        *address = *variables.get_or_insert_default().entry(name.to_owned()).or_insert_with(|| allocate(*bytes));
    }
    cuEventCreate(event: *mut *mut c_void, flags: u32) { *event = object(); }
    cuEventDestroy_v2(event: *mut c_void) {}
    cuEventElapsedTime(milliseconds: *mut f32, start: *mut c_void, end: *mut c_void) { *milliseconds = 1.5; }
    cuEventRecord(event: *mut c_void, stream: *mut c_void) {}
    cuEventSynchronize(event: *mut c_void) {}
    cuFuncSetAttribute(function: *mut c_void, attribute: u32, value: i32) {}
    cuFuncSetCacheConfig(function: *mut c_void, config: u32) {}
    cuLaunchCooperativeKernel(
        function: *mut c_void, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: *mut c_void,
        parameters: *mut *mut c_void
    ) {}
    cuLaunchKernel(
        function: *mut c_void, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, stream: *mut c_void,
        parameters: *mut *mut c_void, extra: *mut *mut c_void
    ) {
        let mut found = None;
        if std::env::var("FAKE_CUDA_COUNTS").is_ok() {
            let word = **parameters.cast::<*const *mut u32>();
            found = Some(*word);
            *word += 1;
        }
        record(found, [gx, gy, gz, bx, by, bz]);
    }
    cuLaunchKernelEx(
        config: *const c_void, function: *mut c_void, parameters: *mut *mut c_void, extra: *mut *mut c_void
    ) {
        // Three extents of the grid, three of the block, shared memory, the stream, a pointer to
        // attributes, and their number. An attribute has its id, 4 bytes of padding and its value.
        let attributes = *config.cast::<u8>().add(40).cast::<*const [u32; 18]>();
        let count = *config.cast::<u8>().add(48).cast::<u32>() as usize;
        let attributes = std::slice::from_raw_parts(attributes, count);
        let found: Vec<String> = attributes.iter().map(|words| format!("{:?}", &words[..5])).collect();
        assert_eq!(Some(found.join(" ")), std::env::var("FAKE_CUDA_ATTRIBUTES").ok(), "the attributes");
        record(None, *config.cast::<[u32; 6]>());
    }
    cuMemAlloc_v2(address: *mut u64, bytes: usize) { *address = allocate(bytes); }
    cuMemAllocPitch_v2(address: *mut u64, pitch: *mut usize, width: usize, height: usize, element: u32) {
        *pitch = width.next_multiple_of(512);
        *address = allocate(*pitch * height);
    }
    cuCtxSetLimit(limit: u32, value: usize) {}
    cuMemFree_v2(address: u64) {}
    cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut i32, function: *mut c_void, threads: i32, shared: usize
    ) {
        *blocks = 2048 / threads;
    }
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        *free = memory() / 2;
        *total = memory();
    }
    cuMemcpy2D_v2(copy: *const Copy2D) {
        let copy = &*copy;
        for row in 0..copy.height {
            std::ptr::copy(copy.from.row(row), copy.to.row(row), copy.width);
        }
    }
    cuMemcpy2DAsync_v2(copy: *const Copy2D, stream: *mut c_void) {
        let copy = &*copy;
        for row in 0..copy.height {
            std::ptr::copy(copy.from.row(row), copy.to.row(row), copy.width);
        }
    }
    cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) {
        std::ptr::copy(from as *const u8, to as *mut u8, bytes);
    }
    cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize) { std::ptr::copy(from as *const u8, to, bytes); }
    cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize) { std::ptr::copy(from, to as *mut u8, bytes); }
    cuMemsetD8Async(address: u64, value: u8, bytes: usize, stream: *mut c_void) {
        std::ptr::write_bytes(address as *mut u8, value, bytes);
    }
    cuModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) { *function = object(); }
    cuModuleLoadDataEx(
        module: *mut *mut c_void, image: *const c_void, count: u32, options: *mut u32, values: *mut *mut c_void
    ) {
        *module = object();
        *TEXT.lock().unwrap() = std::ffi::CStr::from_ptr(image.cast()).to_string_lossy().into_owned();
    }
    cuModuleUnload(module: *mut c_void) {}
    cuStreamCreateWithPriority(stream: *mut *mut c_void, flags: u32, priority: i32) { *stream = object(); }
    cuStreamDestroy_v2(stream: *mut c_void) {}
    cuStreamGetFlags(stream: *mut c_void, flags: *mut u32) { *flags = 0; }
    cuStreamSynchronize(stream: *mut c_void) {}
    cuGetErrorName(code: u32, text: *mut *const c_char) { *text = c"CUDA_ERROR_FAKE".as_ptr(); }
    cuGetErrorString(code: u32, text: *mut *const c_char) { *text = c"it was asked to fail".as_ptr(); }
}
