//! Rows and columns: a grid of two dimensions

use cuda_std::prelude::*;

/// Fades the image out to the left.
#[kernel]
pub fn shade(image: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    // The two are also `position().col()` and `position().row()`, as later exercises write it.
    let column = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
    let row = thread::block_idx_y() * thread::block_dim_y() + thread::thread_idx_y();
    let own = output.get_mut(thread::position());
    if let (Some(pixel), Some(own)) = (image.get(row, column), own) {
        *own = pixel * (column + 1) as f32 / image.cols() as f32;
    }
}
