//! The blur, in one thread, from plain memory.

use cuda_std::prelude::*;

/// The mean of each 3 x 3 elements, those beyond the edges clamped.
///
/// # Safety
/// `image` and `output` hold `rows` x `columns` elements; one thread.
#[kernel]
pub unsafe fn reference(image: *const f32, output: *mut f32, rows: u32, columns: u32) {
    let (rows, columns) = (rows as isize, columns as isize);
    for y in 0..rows {
        for x in 0..columns {
            let mut sum = 0.0;
            for v in y - 1..=y + 1 {
                for u in x - 1..=x + 1 {
                    sum += *image.offset(v.clamp(0, rows - 1) * columns + u.clamp(0, columns - 1));
                }
            }
            *output.offset(y * columns + x) = sum / 9.0;
        }
    }
}
