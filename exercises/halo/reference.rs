//! Means of 5 x 5 values, a thread for each element.

use cuda_std::prelude::*;

/// # Safety
/// As for the kernel of the exercise.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, rows: i32, columns: i32) {
    for element in thread::grid_stride((rows * columns) as usize) {
        let element = element.get() as i32;
        let (row, column) = (element / columns, element % columns);
        let mut sum = 0.0;
        for i in (row - 2).max(0)..(row + 3).min(rows) {
            for j in (column - 2).max(0)..(column + 3).min(columns) {
                sum += *input.add(i as usize * columns as usize + j as usize);
            }
        }
        *output.add(element as usize) = sum / 25.0;
    }
}
