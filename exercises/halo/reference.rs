//! Means of 5 x 5 values, in one thread.

use cuda_std::prelude::*;

/// # Safety
/// As for the kernel of the exercise; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, rows: i32, columns: i32) {
    for row in 0..rows {
        for column in 0..columns {
            let mut sum = 0.0;
            for i in (row - 2).max(0)..(row + 3).min(rows) {
                for j in (column - 2).max(0)..(column + 3).min(columns) {
                    sum += *input.add(i as usize * columns as usize + j as usize);
                }
            }
            *output.add(row as usize * columns as usize + column as usize) = sum / 25.0;
        }
    }
}
