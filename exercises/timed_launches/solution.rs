//! How long does a launch take?
//!
//! After a warm-up, two events enclose the launches, and the host waits for the last one.

use std::error::Error;

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
    let launch = || {
        // SAFETY: both buffers hold `n` floats until the stream has ended.
        unsafe {
            launch!(kernel<<<n.div_ceil(256), 256, 0, stream>>>(
                x.as_device_ptr(), y.as_device_ptr(), n
            ))
        }
    };

    let (from, until) = (Event::new(EventFlags::DEFAULT)?, Event::new(EventFlags::DEFAULT)?);
    launch()?;
    from.record(&stream)?;
    for _ in 0..LAUNCHES {
        launch()?;
    }
    until.record(&stream)?;
    until.synchronize()?;
    let milliseconds = until.elapsed_time_f32(&from)?;
    Ok((y.as_host_vec()?, milliseconds / LAUNCHES as f32))
}
