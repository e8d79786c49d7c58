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
//! `r * cols + c`. A `Matrix` computes that: `image.get(row, column)` is the element, or `None`
//! outside the image. It checks row and column separately, because the column after the last one
//! would be the beginning of the next row. The output is a `DisjointMatrix`, of which each thread
//! reaches only the element at its own `thread::position()`.
//!
//! # Task
//!
//! `shade` fades an image out to the left: it multiplies column `c` by `(c + 1) / cols`. The grid
//! covers the image, which has any number of rows and columns, so blocks at its edges may have
//! threads outside it: right of the last column, and below the last row. `if let` leaves them idle.
//!
//! As it is, the kernel reads row 0 only. Make it read the thread's own row.

use cuda_std::prelude::*;

/// Fades the image out to the left.
#[kernel]
pub fn shade(image: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let column = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
    // TODO: the row of this thread.
    let row = 0;
    let own = output.get_mut(thread::position());
    if let (Some(pixel), Some(own)) = (image.get(row, column), own) {
        *own = pixel * (column + 1) as f32 / image.cols() as f32;
    }
}
