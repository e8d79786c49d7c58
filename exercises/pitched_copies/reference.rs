//! The mean of each pixel and its neighbours in the row.

use cuda_std::prelude::*;

/// Goes over all pixels in order.
///
/// # Safety
/// `image` and `smooth` hold `rows * columns` elements.
#[kernel]
pub unsafe fn reference(image: *const f32, smooth: *mut f32, rows: u32, columns: u32) {
    let (rows, columns) = (rows as usize, columns as usize);
    for row in 0..rows {
        for column in 0..columns {
            let at = |column: usize| *image.add(row * columns + column);
            let (left, right) = (at(column.max(1) - 1), at((column + 1).min(columns - 1)));
            *smooth.add(row * columns + column) = (left + at(column) + right) / 3.0;
        }
    }
}
