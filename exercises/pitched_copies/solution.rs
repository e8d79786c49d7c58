//! An image with a pitch
//!
//! Both images are allocated with the pitch that the driver chooses, and each is copied at once, as
//! rows. A type that frees its memory when it is dropped leaks nothing, whatever fails.

use std::error::Error;

use cust::prelude::*;
use cust::sys::{self, CUDA_MEMCPY2D, CUdeviceptr, CUmemorytype};
use exercise_host::{checked, no_rows};

/// An image on the device, with a pitch in bytes.
struct Image {
    address: CUdeviceptr,
    pitch: usize,
}

impl Image {
    /// Allocates rows of floats.
    fn new(rows: usize, columns: usize) -> Result<Self, Box<dyn Error>> {
        let (mut address, mut pitch) = (0, 0);
        let width = columns * size_of::<f32>();
        // SAFETY: both variables outlive the call.
        checked(unsafe { sys::cuMemAllocPitch_v2(&mut address, &mut pitch, width, rows, 4) })?;
        Ok(Self { address, pitch })
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: nothing uses the image any more. A failure cannot be reported here.
        let _ = unsafe { sys::cuMemFree_v2(self.address) };
    }
}

/// Smooths the rows of an image with the kernel `smooth`.
pub fn smooth(
    module: &Module,
    image: &[f32],
    rows: usize,
    columns: usize,
) -> Result<Vec<f32>, Box<dyn Error>> {
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let kernel = module.get_function("smooth")?;
    let input = Image::new(rows, columns)?;
    let output = Image::new(rows, columns)?;

    let to_device = CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: image.as_ptr().cast(),
        srcPitch: 4 * columns,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: input.address,
        dstPitch: input.pitch,
        WidthInBytes: 4 * columns,
        Height: rows,
        ..no_rows()
    };
    // SAFETY: `image` has rows of `columns` floats, and `input` room for them at its pitch.
    checked(unsafe { sys::cuMemcpy2D_v2(&to_device) })?;

    let pitch = (input.pitch / size_of::<f32>()) as u32;
    let pointers = [&input, &output].map(|image| DevicePointer::<f32>::from_raw(image.address));
    let grid = (columns.div_ceil(32) as u32, rows.div_ceil(8) as u32);
    // SAFETY: both images have this many rows, at one pitch, until the stream has ended.
    unsafe {
        launch!(kernel<<<grid, (32, 8), 0, stream>>>(
            pointers[0], pointers[1], rows as u32, columns as u32, pitch
        ))?;
    }
    stream.synchronize()?;

    let mut result = vec![0.0; image.len()];
    let to_host = CUDA_MEMCPY2D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: output.address,
        srcPitch: output.pitch,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: result.as_mut_ptr().cast(),
        dstPitch: 4 * columns,
        WidthInBytes: 4 * columns,
        Height: rows,
        ..no_rows()
    };
    // SAFETY: `output` has these rows at its pitch, and `result` room for them without one.
    checked(unsafe { sys::cuMemcpy2D_v2(&to_host) })?;
    Ok(result)
}
