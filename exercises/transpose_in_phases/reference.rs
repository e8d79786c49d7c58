//! The transpose, twice, in one thread.

use cuda_std::prelude::*;

/// Transposes the matrix.
#[kernel]
pub fn reference(
    input: Matrix<f32>,
    mut plain: DisjointMatrix<f32>,
    mut phased: DisjointMatrix<f32>,
) {
    for row in 0..input.rows() {
        for col in 0..input.cols() {
            for output in [&mut plain, &mut phased] {
                // SAFETY: there is one thread.
                let to = unsafe { output.element_mut(col, row) };
                if let (Some(from), Some(to)) = (input.get(row, col), to) {
                    *to = *from;
                }
            }
        }
    }
}
