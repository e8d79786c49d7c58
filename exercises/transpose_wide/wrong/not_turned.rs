// fails: output[
// Moves the patch to its place in the output, but writes its rows where its columns belong.

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
            let four = *input.add((row + i) * cols + col).cast::<f32x4>();
            *output.add((col + i) * rows + row).cast::<f32x4>() = four;
        }
    }
}
