//! Fades an image out, in one thread.

use cuda_std::prelude::*;

/// Fades the image out to the left.
#[kernel]
pub fn reference(image: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    for row in 0..image.rows() {
        for column in 0..image.cols() {
            // SAFETY: the launch has one thread.
            let element = unsafe { output.element_mut(row, column) };
            if let (Some(pixel), Some(element)) = (image.get(row, column), element) {
                *element = pixel * (column + 1) as f32 / image.cols() as f32;
            }
        }
    }
}
