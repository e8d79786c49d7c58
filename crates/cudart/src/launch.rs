//! Launches, kernels' attributes, and how many blocks a multiprocessor holds.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::call::{enter, get, put, runtime};
use crate::device::ready;
use crate::driver;
use crate::error::{Done, Error};
use crate::registration::function;
use crate::types::{Dim3, DriverConfig, Handle, HostFunction};

/// What stands between `<<<` and `>>>`.
#[derive(Clone, Copy)]
struct Size {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Handle,
}

thread_local! {
    /// The sizes of launches whose arguments are being evaluated.
    static SIZES: RefCell<Vec<Size>> = const { RefCell::new(Vec::new()) };
}

/// `cudaLaunchConfig_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Config {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Handle,
    /// The same in both libraries.
    attributes: *const c_void,
    count: c_uint,
}

impl Config {
    fn for_driver(&self) -> Done<DriverConfig> {
        let Config { grid, block, shared, stream, attributes, count } = *self;
        Ok(DriverConfig { grid, block, shared: narrow(shared)?, stream, attributes, count })
    }
}

fn narrow(shared: usize) -> Done<c_uint> {
    c_uint::try_from(shared).map_err(|_| Error::INVALID_VALUE)
}

/// What the driver says of a launch's size, as the runtime library does.
fn configured(result: Done) -> Done {
    result.map_err(|error| if error == Error::INVALID_VALUE { Error::INVALID_CONFIGURATION } else { error })
}

fn launch(host: *const c_void, size: Size, arguments: *const *const c_void) -> Done {
    let (function, Size { grid, block, shared, stream }) = (function(host)?, size);
    let shared = narrow(shared)?;
    let nothing = std::ptr::null();
    configured(driver::cuLaunchKernel(
        function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, arguments, nothing,
    ))
}

fn attribute(function: Handle, number: c_uint) -> Done<c_int> {
    let mut value = 0;
    driver::cuFuncGetAttribute(&mut value, number, function)?;
    Ok(value)
}

/// `cudaFuncAttributes`, with the bytes that are reserved.
#[repr(C)]
pub struct Attributes {
    sizes: [usize; 3],
    numbers: [c_int; 13],
    reserved: [c_int; 16],
}

runtime! {
    fn cudaLaunchKernel [cudaLaunchKernel_ptsz] (
        host: *const c_void, grid: Dim3, block: Dim3, arguments: *const *const c_void, shared: usize, stream: Handle,
    ) {
        launch(host, Size { grid, block, shared, stream }, arguments)
    }

    // The handle of a kernel is the host's function: it means a kernel on every device.
    fn __cudaGetKernel(to: *mut *const c_void, host: *const c_void) {
        put(to, host)
    }

    fn cudaGetKernel(to: *mut *const c_void, host: *const c_void) {
        function(host)?;
        put(to, host)
    }

    fn __cudaLaunchKernel [__cudaLaunchKernel_ptsz] (
        host: *const c_void, grid: Dim3, block: Dim3, arguments: *const *const c_void, shared: usize, stream: Handle,
    ) {
        launch(host, Size { grid, block, shared, stream }, arguments)
    }

    fn cudaLaunchKernelExC [cudaLaunchKernelExC_ptsz] (config: *const Config, host: *const c_void, arguments: *const *const c_void) {
        let (function, config) = (function(host)?, get(config)?.for_driver()?);
        configured(driver::cuLaunchKernelEx(&config, function, arguments, std::ptr::null()))
    }

    fn cudaLaunchCooperativeKernel [cudaLaunchCooperativeKernel_ptsz] (
        host: *const c_void, grid: Dim3, block: Dim3, arguments: *const *const c_void, shared: usize, stream: Handle,
    ) {
        let (function, shared) = (function(host)?, narrow(shared)?);
        configured(driver::cuLaunchCooperativeKernel(
            function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream, arguments,
        ))
    }

    fn cudaLaunchHostFunc [cudaLaunchHostFunc_ptsz] (stream: Handle, function: HostFunction, data: *mut c_void) {
        ready()?;
        driver::cuLaunchHostFunc(stream, function, data)
    }

    fn cudaGetFuncBySymbol(to: *mut Handle, host: *const c_void) {
        put(to, function(host)?)
    }

    fn cudaFuncGetName(to: *mut *const c_char, host: *const c_void) {
        driver::cuFuncGetName(to, function(host)?)
    }

    fn cudaFuncGetAttributes(to: *mut Attributes, host: *const c_void) {
        let function = function(host)?;
        let mut numbers = [0; 13];
        // Threads of a block, registers, PTX, machine code, caching, dynamic shared memory,
        // carveout, clusters.
        for (to, number) in numbers.iter_mut().zip([0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14]) {
            *to = attribute(function, number)?;
        }
        let size = |number| Ok(attribute(function, number)? as usize);
        put(to, Attributes { sizes: [size(1)?, size(2)?, size(3)?], numbers, reserved: [0; 16] })
    }

    fn cudaFuncSetAttribute(host: *const c_void, number: c_uint, value: c_int) {
        driver::cuFuncSetAttribute(function(host)?, number, value)
    }

    fn cudaFuncSetCacheConfig(host: *const c_void, config: c_uint) {
        driver::cuFuncSetCacheConfig(function(host)?, config)
    }

    fn cudaFuncSetSharedMemConfig(host: *const c_void, config: c_uint) {
        driver::cuFuncSetSharedMemConfig(function(host)?, config)
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        to: *mut c_int, host: *const c_void, threads: c_int, dynamic: usize,
    ) {
        driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to, function(host)?, threads, dynamic, 0)
    }

    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        to: *mut c_int, host: *const c_void, threads: c_int, dynamic: usize, flags: c_uint,
    ) {
        driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to, function(host)?, threads, dynamic, flags)
    }

    fn cudaOccupancyAvailableDynamicSMemPerBlock(
        to: *mut usize, host: *const c_void, blocks: c_int, threads: c_int,
    ) {
        driver::cuOccupancyAvailableDynamicSMemPerBlock(to, function(host)?, blocks, threads)
    }

    fn cudaOccupancyMaxPotentialClusterSize(to: *mut c_int, host: *const c_void, config: *const Config) {
        let (function, config) = (function(host)?, get(config)?.for_driver()?);
        driver::cuOccupancyMaxPotentialClusterSize(to, function, &config)
    }

    fn cudaOccupancyMaxActiveClusters(to: *mut c_int, host: *const c_void, config: *const Config) {
        let (function, config) = (function(host)?, get(config)?.for_driver()?);
        driver::cuOccupancyMaxActiveClusters(to, function, &config)
    }
}

/// The size of the next launch.
#[unsafe(no_mangle)] // SAFETY: a name that nvcc's code calls, of which a process loads one library.
pub extern "C" fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, shared: usize, stream: Handle) -> c_uint {
    SIZES.with_borrow_mut(|sizes| sizes.push(Size { grid, block, shared, stream }));
    0
}

/// Takes the size of a launch back.
#[unsafe(no_mangle)] // SAFETY: a name that nvcc's code calls, of which a process loads one library.
pub extern "C" fn __cudaPopCallConfiguration(
    grid: *mut Dim3,
    block: *mut Dim3,
    shared: *mut usize,
    stream: *mut Handle,
) -> u32 {
    enter("__cudaPopCallConfiguration", || {
        let size = SIZES.with_borrow_mut(Vec::pop).ok_or(Error::NO_CONFIGURATION)?;
        put(grid, size.grid)?;
        put(block, size.block)?;
        put(shared, size.shared)?;
        put(stream, size.stream)
    })
}
