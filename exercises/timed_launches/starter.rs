//! How long does a launch take?
//!
//! A launch returns before the kernel has ended, so a clock of the host that is read right after it
//! measures nothing. Read after a synchronisation, it also measures how long the host takes to
//! launch and to wait. *Events* are marks in a stream: the GPU notes the time when it comes to one.
//! The time between two, in milliseconds, is `cuEventElapsedTime`, `until.elapsed_time_f32(&from)`
//! in `cust`. The last must have been reached, so synchronise with it before you ask.
//!
//! The first launch of a kernel is often slower than the others: its code is loaded, and caches are
//! empty. So a measurement begins with a launch that is not timed, the *warm-up*.
//!
//! # Task
//!
//! Measure ten launches with two events, after a warm-up, and wait only once, for the last event.
//! (The events here have predicted times, of an H200.)

use std::error::Error;
use std::time::Instant;

use cust::prelude::*;

/// How many launches are measured.
const LAUNCHES: u32 = 10;

/// Doubles the input. Returns the result, and how many milliseconds an average launch takes.
pub fn time_double(module: &Module, input: &[f32]) -> Result<(Vec<f32>, f32), Box<dyn Error>> {
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let kernel = module.get_function("double")?;
    let n = input.len() as u32;
    let x = DeviceBuffer::from_slice(input)?;
    let y = DeviceBuffer::<f32>::zeroed(input.len())?;

    // TODO: a warm-up, and events in the place of the host's clock.
    let mut milliseconds = 0.0;
    for _ in 0..LAUNCHES {
        let from = Instant::now();
        // SAFETY: both buffers hold `n` floats until the stream has ended.
        unsafe {
            launch!(kernel<<<n.div_ceil(256), 256, 0, stream>>>(
                x.as_device_ptr(), y.as_device_ptr(), n
            ))?;
        }
        stream.synchronize()?;
        milliseconds += 1000.0 * from.elapsed().as_secs_f32();
    }
    Ok((y.as_host_vec()?, milliseconds / LAUNCHES as f32))
}
