//! One copy instead of hundreds
//!
//! A copy between the host and a GPU costs some microseconds before its first byte moves: calls of
//! the driver, and the way over the bus. At 50 GB/s a row of 64 bytes moves in a nanosecond. So it
//! is not the bytes that cost, but the copies. (`host transfer` shows both: the time of a kilobyte
//! and that of a gigabyte.)
//!
//! # Task
//!
//! The function below is right, but it copies every row by itself, launches for it, and waits. Put
//! the rows one after the other in memory of the host, and copy all of them at once; likewise back.
//! Rows may differ in length.

use std::error::Error;

use cust::prelude::*;

/// Halves each element of each row.
pub fn halve(module: &Module, rows: &[Vec<f32>]) -> Result<Vec<Vec<f32>>, Box<dyn Error>> {
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let kernel = module.get_function("halve")?;
    let mut halves = Vec::new();
    // TODO: one copy there, one launch, one copy back.
    for row in rows {
        let values = DeviceBuffer::from_slice(row)?;
        let n = row.len() as u32;
        // SAFETY: the buffer holds `n` floats until the stream has ended.
        unsafe {
            launch!(kernel<<<n.div_ceil(256), 256, 0, stream>>>(values.as_device_ptr(), n))?;
        }
        stream.synchronize()?;
        halves.push(values.as_host_vec()?);
    }
    Ok(halves)
}
