//! Kernels of a loaded module: their settings, their occupancy, and launches. `safe/function.rs` and the backend call it.

use std::ffi::c_void;
use std::ptr;

use cust::stream::Stream;
use cust::sys::{self, AttributedLaunch, CUfunc_cache, CUfunction, CUfunction_attribute};

use super::{DriverError, Result, number_to_result, to_result};

/// Sets how a kernel prefers to split the on-chip memory between L1 and shared memory.
///
/// # Safety
///
/// The function's module is loaded.
pub unsafe fn set_cache_config(function: CUfunction, config: CUfunc_cache) -> Result<()> {
    // SAFETY: the caller's promise.
    to_result(unsafe { sys::cuFuncSetCacheConfig(function, config) })
}

/// Sets an attribute, such as the carveout.
///
/// # Safety
///
/// The function's module is loaded.
pub unsafe fn set_attribute(function: CUfunction, attribute: CUfunction_attribute, value: i32) -> Result<()> {
    // SAFETY: the caller's promise; the driver checks the value.
    to_result(unsafe { sys::cuFuncSetAttribute(function, attribute, value) })
}

/// How many blocks with this many threads and bytes of dynamic shared memory are resident at once on a multiprocessor.
///
/// # Safety
///
/// The function's module is loaded.
pub unsafe fn resident_blocks(function: CUfunction, threads: u32, dynamic_shared: u32) -> Result<i32> {
    let mut blocks = 0;
    // SAFETY: the caller's promise; the output outlives the call.
    to_result(unsafe {
        sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, threads as i32, dynamic_shared as usize)
    })?;
    Ok(blocks)
}

/// The shape of a launch.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster, for a launch in clusters.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
    /// Whether it may begin before the kernel before it in the stream has ended ("programmatic dependent launch").
    pub may_begin_early: bool,
    /// Dynamic shared memory of a block in bytes.
    pub dynamic_shared: u32,
}

/// Starts a kernel, by the one of three driver functions that the shape needs.
///
/// # Safety
///
/// The function's module is loaded in the current context, and the stream belongs to it. There is a pointer to an argument of
/// the right size for each of the kernel's parameters. What the kernel does with its arguments is allowed; if it may begin early, it
/// waits for the kernel before it first.
pub unsafe fn launch(
    function: CUfunction,
    shape: &Shape,
    parameters: &mut [*mut c_void],
    stream: &Stream,
) -> Result<()> {
    let &Shape { grid, block, cluster, cooperative, may_begin_early, dynamic_shared } = shape;
    let (stream, parameters) = (stream.as_inner(), parameters.as_mut_ptr());
    if cluster.is_some() || may_begin_early {
        let launch = AttributedLaunch {
            function,
            grid,
            block,
            cluster,
            cooperative,
            may_begin_early,
            dynamic_shared,
            stream,
            parameters,
        };
        // SAFETY: the caller's promise.
        let status = unsafe { sys::launch_with_attributes(&launch) };
        return number_to_result(status.map_err(DriverError::Missing)?);
    }
    let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
    // SAFETY: the caller's promise; the driver only reads the arguments, and has copied them when it returns.
    to_result(unsafe {
        if cooperative {
            sys::cuLaunchCooperativeKernel(function, gx, gy, gz, bx, by, bz, dynamic_shared, stream, parameters)
        } else {
            let extra = ptr::null_mut();
            sys::cuLaunchKernel(function, gx, gy, gz, bx, by, bz, dynamic_shared, stream, parameters, extra)
        }
    })
}
