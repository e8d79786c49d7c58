//! Copy while the kernel runs
//!
//! Each stream has every other chunk: it copies the chunk to the device, doubles it, and copies it
//! back. The host's buffers are pinned, and the host waits once for each stream.

use std::error::Error;

use cust::memory::{AsyncCopyDestination, LockedBuffer};
use cust::prelude::*;

/// How many chunks there are at most.
const CHUNKS: usize = 4;

/// Doubles the input.
pub fn double(module: &Module, input: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    let new_stream = || Stream::new(StreamFlags::NON_BLOCKING, None);
    let streams = [new_stream()?, new_stream()?];
    let kernel = module.get_function("double")?;
    let source = LockedBuffer::from_slice(input)?;
    let mut target = LockedBuffer::new(&0.0f32, input.len())?;
    // SAFETY: each chunk is copied or written before it is read.
    let (x, y) = unsafe {
        let n = input.len();
        (DeviceBuffer::<f32>::uninitialized(n)?, DeviceBuffer::<f32>::uninitialized(n)?)
    };

    let chunk = input.len().div_ceil(CHUNKS);
    for (number, result) in target.chunks_mut(chunk).enumerate() {
        let stream = &streams[number % streams.len()];
        let range = number * chunk..number * chunk + result.len();
        let (mut from, to) = (x.index(range.clone()), y.index(range.clone()));
        let n = result.len() as u32;
        // SAFETY: the buffers of both sides live until both streams have ended, and no chunk is in
        // two streams.
        unsafe {
            from.async_copy_from(&source[range], stream)?;
            launch!(kernel<<<n.div_ceil(256), 256, 0, stream>>>(
                from.as_device_ptr(), to.as_device_ptr(), n
            ))?;
            to.async_copy_to(result, stream)?;
        }
    }
    for stream in &streams {
        stream.synchronize()?;
    }
    Ok(target.to_vec())
}
