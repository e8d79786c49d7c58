//! Rows and columns: a grid of two dimensions

use cuda_std::prelude::*;

/// Fades the image out to the left.
///
/// # Safety
/// `image` and `output` hold `rows` x `columns` elements, and there is a thread for each of them.
#[kernel]
pub unsafe fn shade(image: *const f32, output: *mut f32, rows: u32, columns: u32) {
    let column = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
    let row = thread::block_idx_y() * thread::block_dim_y() + thread::thread_idx_y();
    // Each dimension has its own guard: a column too many would be the beginning of the next row.
    if row < rows && column < columns {
        let i = (row * columns + column) as usize;
        *output.add(i) = *image.add(i) * (column + 1) as f32 / columns as f32;
    }
}
