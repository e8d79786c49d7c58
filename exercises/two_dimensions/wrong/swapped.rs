// fails: output[0][1]
// Takes x for the row and y for the column: reads the image as if it were transposed.

use cuda_std::prelude::*;

/// Fades the image out to the left.
#[kernel]
pub fn shade(image: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let row = thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x();
    let column = thread::block_idx_y() * thread::block_dim_y() + thread::thread_idx_y();
    let own = output.get_mut(thread::position());
    if let (Some(pixel), Some(own)) = (image.get(row, column), own) {
        *own = pixel * (column + 1) as f32 / image.cols() as f32;
    }
}
