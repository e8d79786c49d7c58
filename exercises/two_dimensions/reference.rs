//! Fades an image out, in one thread.

use cuda_std::prelude::*;

/// Fades the image out to the left.
///
/// # Safety
/// `image` and `output` hold `rows` x `columns` elements; one thread.
#[kernel]
pub unsafe fn reference(image: *const f32, output: *mut f32, rows: u32, columns: u32) {
    for row in 0..rows {
        for column in 0..columns {
            let i = (row * columns + column) as usize;
            *output.add(i) = *image.add(i) * (column + 1) as f32 / columns as f32;
        }
    }
}
