//! Copy while the kernel runs
//!
//! A GPU copies in both directions and runs a kernel at the same time, by different parts of the
//! chip. In one stream, though, each piece of work waits for the one before it. So large data is
//! cut into *chunks*, and the chunks are given to two or more *streams* in turn: while one stream's
//! kernel runs, the other's next chunk arrives.
//!
//! A copy runs beside the host only if the host's side is *pinned* memory, which the system does
//! not move (`LockedBuffer` in `cust`, `cudaMallocHost` in CUDA C++). From any other memory, an
//! `async` copy makes the host wait.
//!
//! # Task
//!
//! The function below is right, but everything waits for everything. Cut the data into four chunks,
//! and overlap their copies and launches in two streams, with pinned memory on the host's side.
//! (The times are predicted, for an H200.)

use std::error::Error;

use cust::prelude::*;

/// Doubles the input.
pub fn double(module: &Module, input: &[f32]) -> Result<Vec<f32>, Box<dyn Error>> {
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let kernel = module.get_function("double")?;
    let n = input.len() as u32;
    // TODO: pinned memory, chunks, and two streams.
    let x = DeviceBuffer::from_slice(input)?;
    let y = DeviceBuffer::<f32>::zeroed(input.len())?;
    // SAFETY: both buffers hold `n` floats until the stream has ended.
    unsafe {
        launch!(kernel<<<n.div_ceil(256), 256, 0, stream>>>(
            x.as_device_ptr(), y.as_device_ptr(), n
        ))?;
    }
    stream.synchronize()?;
    Ok(y.as_host_vec()?)
}
