//! One copy instead of hundreds
//!
//! A copy between the host and a GPU takes some microseconds before its first byte moves: for the
//! driver's call and the way over the bus. At 50 GB/s, 64 bytes then take about a nanosecond. So
//! the number of copies costs time, not their bytes. (`host transfer` shows both: copies of 1 KiB
//! and of 256 MiB.)
//!
//! # Task
//!
//! The function below is right, but it copies each row separately, launches a kernel for it, and
//! waits. Put the rows one after the other in the host's memory and copy them all at once, launch
//! the kernel for all of them, and copy all results back at once. Rows may differ in length.

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
