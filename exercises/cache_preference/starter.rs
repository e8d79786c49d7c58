//! Shared memory or cache?
//!
//! On most GPUs, shared memory and the L1 cache are one memory on the chip, which is divided for
//! each kernel: on Fermi and Kepler, and from Volta on. A kernel with much shared memory in a block
//! needs a large share, or few of its blocks run at the same time on a multiprocessor. A kernel
//! that reads scattered elements again wants a large cache.
//!
//! A program can say what a kernel needs, in two ways, both before the launch:
//!
//! - the *cache configuration*, for all GPUs: `kernel.set_cache_config(...)` prefers shared memory
//!   or L1 (`cust::context::CacheConfig`; `cudaFuncSetCacheConfig` in CUDA C++);
//! - the *carveout*, since Volta: the share of shared memory, in percent of the most that there can
//!   be. It is an attribute of the function, `cust::sys::cuFuncSetAttribute(kernel.to_raw(),
//!   CUfunction_attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent)`, whose
//!   status `exercise_host::checked` turns into a result.
//!
//! Both are hints: the driver may divide the memory in another way.
//!
//! # Task
//!
//! `reverse` has 32 KiB of shared memory in a block of 256 threads, `gather` has none and reads in
//! no order. Prefer shared memory for the first, with a carveout of 64 percent or more, and L1 for
//! the second. The results are right already.

use std::error::Error;

use cust::prelude::*;

/// Elements of a part that `reverse` reverses.
const PART: usize = 8192;

/// Reverses the input in parts, and reads the result at the indices.
pub fn reverse_and_gather(
    module: &Module,
    input: &[f32],
    index: &[u32],
) -> Result<Vec<f32>, Box<dyn Error>> {
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let (x, index) = (DeviceBuffer::from_slice(input)?, DeviceBuffer::from_slice(index)?);
    let reversed = DeviceBuffer::<f32>::zeroed(input.len())?;
    let output = DeviceBuffer::<f32>::zeroed(input.len())?;
    let n = input.len() as u32;
    let reverse = module.get_function("reverse")?;
    let gather = module.get_function("gather")?;

    // TODO: say what each kernel needs.
    let parts = input.len().div_ceil(PART) as u32;
    // SAFETY: all buffers hold `n` elements until the stream has ended, and each index is below.
    unsafe {
        launch!(reverse<<<parts, 256, 0, stream>>>(
            x.as_device_ptr(), reversed.as_device_ptr(), n
        ))?;
        launch!(gather<<<n.div_ceil(256), 256, 0, stream>>>(
            reversed.as_device_ptr(), index.as_device_ptr(), output.as_device_ptr(), n
        ))?;
    }
    stream.synchronize()?;
    Ok(output.as_host_vec()?)
}
