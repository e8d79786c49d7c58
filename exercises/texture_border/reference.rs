//! The diffusion, a thread for each element, from plain memory.

use cuda_std::prelude::*;

/// The mean of each element and its four neighbours; 0 beyond the edges.
///
/// # Safety
/// `plate` and `output` hold `rows` x `columns` elements.
#[kernel]
pub unsafe fn reference(plate: *const f32, output: *mut f32, rows: u32, columns: u32) {
    let (rows, columns) = (rows as isize, columns as isize);
    for element in thread::grid_stride((rows * columns) as usize) {
        let element = element.get() as isize;
        let (x, y) = (element % columns, element / columns);
        let mut sum = 0.0;
        for (u, v) in [(x, y), (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)] {
            if 0 <= u && u < columns && 0 <= v && v < rows {
                sum += *plate.offset(v * columns + u);
            }
        }
        *output.offset(element) = sum / 5.0;
    }
}
