//! The kernel of this exercise: a pixel becomes the mean of itself and its neighbours in the row.
//!
//! Rows lie `pitch` elements apart, which may be more than `columns`: what is between is padding.

use cuda_std::prelude::*;

/// Smooths the rows of an image.
///
/// # Safety
/// `input` and `output` hold `rows` rows of `columns` elements, `pitch` elements apart. Blocks are
/// 32 x 8, one for each tile.
#[kernel(block(32, 8))]
pub unsafe fn smooth(input: *const f32, output: *mut f32, rows: u32, columns: u32, pitch: u32) {
    let at = thread::index_2d();
    let (column, row) = (at.x as usize, at.y as usize);
    let (rows, columns, pitch) = (rows as usize, columns as usize, pitch as usize);
    if row < rows && column < columns {
        let left = *input.add(row * pitch + column.max(1) - 1);
        let right = *input.add(row * pitch + (column + 1).min(columns - 1));
        *output.add(row * pitch + column) = (left + *input.add(row * pitch + column) + right) / 3.0;
    }
}
