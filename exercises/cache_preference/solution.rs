//! Shared memory or cache?
//!
//! Each kernel says what it needs before it is launched: `reverse` shared memory, `gather` the L1
//! cache.

use std::error::Error;

use cust::context::CacheConfig;
use cust::prelude::*;
use cust::sys::{self, CUfunction_attribute as Attribute};
use exercise_host::checked;

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
    let mut reverse = module.get_function("reverse")?;
    let mut gather = module.get_function("gather")?;

    reverse.set_cache_config(CacheConfig::PreferShared)?;
    let carveout = Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    // SAFETY: the module, and so the function, is loaded.
    checked(unsafe { sys::cuFuncSetAttribute(reverse.to_raw(), carveout, 100) })?;
    gather.set_cache_config(CacheConfig::PreferL1)?;

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
