//! Which launch failed?
//!
//! A launch returns before its kernel runs. So the error that a kernel causes, such as an access
//! out of bounds, cannot be the launch's: it is *asynchronous*, and a later call returns it, which
//! has nothing to do with it. Mostly that is the next synchronisation, perhaps many launches later.
//! From then on the context is lost: all calls fail, until the program makes a new one.
//!
//! To find the launch, wait after each: the first synchronisation that fails comes right behind it.
//! That costs time, so it is for looking for a mistake, not for the program that is handed over.
//! (CUDA has an environment variable that does the same: `CUDA_LAUNCH_BLOCKING=1`.)
//!
//! # Task
//!
//! Some batch of these indices goes beyond the table. Return its number, or `None` if there is
//! none.

use std::error::Error;

use cust::prelude::*;

/// Reads the table at the indices, batch by batch. Returns the first batch whose launch fails.
pub fn failed_batch(
    module: &Module,
    table: &[f32],
    index: &[u32],
    batch: usize,
) -> Result<Option<usize>, Box<dyn Error>> {
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let kernel = module.get_function("gather")?;
    let table = DeviceBuffer::from_slice(table)?;
    let all = DeviceBuffer::from_slice(index)?;
    let output = DeviceBuffer::<f32>::zeroed(batch)?;
    for number in 0..index.len() / batch {
        let part = all.index(number * batch..(number + 1) * batch);
        let grid = batch.div_ceil(256) as u32;
        // SAFETY: `part` and `output` hold a batch. Its indices are what is in question.
        let launched = unsafe {
            launch!(kernel<<<grid, 256, 0, stream>>>(
                table.as_device_ptr(), part.as_device_ptr(), output.as_device_ptr(), batch as u32
            ))
        };
        // TODO: this is not when it fails.
        if launched.is_err() {
            return Ok(Some(number));
        }
    }
    stream.synchronize()?;
    Ok(None)
}
