// fails: output[8][0]
// The row in the block is not the row in the image: all blocks read its first 8 rows.

use cuda_std::prelude::*;

/// Fades the image out to the left.
#[kernel]
pub fn shade(image: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let column = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
    let row = thread::thread_idx_y();
    let own = output.get_mut(thread::position());
    if let (Some(pixel), Some(own)) = (image.get(row, column), own) {
        *own = pixel * (column + 1) as f32 / image.cols() as f32;
    }
}
