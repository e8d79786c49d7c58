//! The transpose, in one thread.

use cuda_std::prelude::*;

/// Transposes the matrix.
///
/// # Safety
/// `input` holds `rows` rows of `cols` elements, `output` has room for `cols` rows of `rows`; one
/// thread.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    for row in 0..rows as usize {
        for col in 0..cols as usize {
            *output.add(col * rows as usize + row) = *input.add(row * cols as usize + col);
        }
    }
}
