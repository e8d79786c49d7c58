//! The transpose, element by element.

use cuda_std::prelude::*;

/// # Safety
/// As for the kernel of the exercise, with any launch.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    let (rows, cols) = (rows as usize, cols as usize);
    for index in thread::grid_stride(rows * cols) {
        let index = index.get();
        *output.add(index % cols * rows + index / cols) = *input.add(index);
    }
}
