//! Free it on every way out
//!
//! Both buffers own their memory, and free it when they are dropped, whatever fails.

use std::error::Error;

use cust::prelude::*;

/// Runs the kernel of this name on the input. Returns the first `n` elements of the result, of
/// which the input has as many at least.
pub fn apply(
    module: &Module,
    name: &str,
    input: &[f32],
    n: usize,
) -> Result<Vec<f32>, Box<dyn Error>> {
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let x = DeviceBuffer::from_slice(input)?;
    // SAFETY: the kernel writes all of it before it is read.
    let y = unsafe { DeviceBuffer::<f32>::uninitialized(n)? };
    let kernel = module.get_function(name)?;
    // SAFETY: both buffers have `n` floats at least, until the stream has ended.
    unsafe {
        launch!(kernel<<<n.div_ceil(256) as u32, 256, 0, stream>>>(
            x.as_device_ptr(), y.as_device_ptr(), n as u32
        ))?;
    }
    stream.synchronize()?;
    Ok(y.as_host_vec()?)
}
