//! Which launch failed?
//!
//! The host waits after each launch: an error is that of the batch before.

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
        unsafe {
            launch!(kernel<<<grid, 256, 0, stream>>>(
                table.as_device_ptr(), part.as_device_ptr(), output.as_device_ptr(), batch as u32
            ))?;
        }
        if stream.synchronize().is_err() {
            return Ok(Some(number));
        }
    }
    Ok(None)
}
