//! An image with a pitch
//!
//! The rows of this image have any length, so most begin in the middle of a sector. A *pitched*
//! allocation puts padding at the end of each row, so that the next row begins on a boundary from
//! which the GPU reads well. The distance from one row to the next is the *pitch*, in bytes. CUDA
//! C++ has `cudaMallocPitch` and `cudaMemcpy2D` for this. `cust` has no wrapper for them, but the
//! driver's own functions are in `cust::sys`:
//!
//! - `cuMemAllocPitch_v2(&mut address, &mut pitch, bytes of a row, rows, 4)` chooses the pitch;
//! - `cuMemcpy2D_v2(&copy)` copies rows between two sides with a pitch each;
//! - `cuMemFree_v2(address)` frees.
//!
//! Each returns a status, which `exercise_host::checked` turns into a result. A `CUDA_MEMCPY2D` has
//! many fields: set the memory types, addresses and pitches of both sides, `WidthInBytes` and
//! `Height`, and take the others from `..exercise_host::no_rows()`.
//!
//! # Task
//!
//! The function below is right, but its images have no pitch. Allocate both with a pitch, copy them
//! as rows, and free them. The kernel takes the pitch in elements.

use std::error::Error;

use cust::prelude::*;

/// Smooths the rows of an image with the kernel `smooth`.
pub fn smooth(
    module: &Module,
    image: &[f32],
    rows: usize,
    columns: usize,
) -> Result<Vec<f32>, Box<dyn Error>> {
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let kernel = module.get_function("smooth")?;
    // TODO: allocate with a pitch.
    let input = DeviceBuffer::from_slice(image)?;
    let output = DeviceBuffer::<f32>::zeroed(image.len())?;
    let pitch = columns;

    let grid = (columns.div_ceil(32) as u32, rows.div_ceil(8) as u32);
    let (input, output_at) = (input.as_device_ptr(), output.as_device_ptr());
    // SAFETY: both images have this many rows, so many elements apart, until the stream has ended.
    unsafe {
        launch!(kernel<<<grid, (32, 8), 0, stream>>>(
            input, output_at, rows as u32, columns as u32, pitch as u32
        ))?;
    }
    stream.synchronize()?;
    Ok(output.as_host_vec()?)
}
