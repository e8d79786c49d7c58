//! Rows and columns
//!
//! Blocks and grids may have two dimensions (and three). That suits images and matrices: here a
//! block is 32 threads wide, in x, and 8 threads high, in y. Block (x, y) of the grid covers a
//! rectangle of the image, 32 columns and 8 rows.
//!
//! Everything in x has its counterpart in y: `thread_idx_y()`, `block_idx_y()`, `block_dim_y()`.
//! The threads of a block are numbered row by row, so in blocks this wide the 32 threads of a warp
//! are neighbours in x. Give them neighbours in memory: x is the column.
//!
//! In memory the image is one row after the other. The element in row `r` and column `c` is number
//! `r * columns + c`.
//!
//! # Task
//!
//! `shade` fades an image out to the left: it multiplies column `c` by `(c + 1) / columns`. The
//! grid covers the image, which has any number of rows and columns, so blocks at its edges may have
//! threads outside it: right of the last column, and below the last row.
//!
//! As it is, the kernel computes row 0 only. Make it compute all rows, and leave the threads
//! outside the image idle.

use cuda_std::prelude::*;

/// Fades the image out to the left.
///
/// # Safety
/// `image` and `output` hold `rows` x `columns` elements, and there is a thread for each of them.
#[kernel]
pub unsafe fn shade(image: *const f32, output: *mut f32, rows: u32, columns: u32) {
    let column = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
    // TODO: the row of this thread.
    let row = 0;
    // TODO: which threads are outside the image?
    if column < columns {
        let i = (row * columns + column) as usize;
        *output.add(i) = *image.add(i) * (column + 1) as f32 / columns as f32;
    }
}
