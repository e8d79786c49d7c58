//! The sums of rows, in one thread.

use cuda_std::prelude::*;

/// The sum of each row.
///
/// # Safety
/// `matrix` holds `rows` x `columns` elements, `output` one for each row; one thread.
#[kernel]
pub unsafe fn reference(matrix: *const f32, output: *mut f32, rows: u32, columns: u32) {
    for row in 0..rows as usize {
        let mut sum = 0.0;
        for column in 0..columns as usize {
            sum += *matrix.add(row * columns as usize + column);
        }
        *output.add(row) = sum;
    }
}
