// fails: stores.requests
// Loads 16 bytes at a time, and still stores 4.

use cuda_std::prelude::*;

/// # Safety
/// As the exercise says.
#[kernel(launch_bounds((8, 32)))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    let patch = thread::index_2d();
    let (row, col) = (4 * patch.y as usize, 4 * patch.x as usize);
    let (rows, cols) = (rows as usize, cols as usize);
    if row < rows && col < cols {
        for i in 0..4 {
            let four = (*input.add((row + i) * cols + col).cast::<f32x4>()).to_array();
            for j in 0..4 {
                *output.add((col + j) * rows + row + i) = four[j];
            }
        }
    }
}
