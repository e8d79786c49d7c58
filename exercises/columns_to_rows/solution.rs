//! Let x go along the row: the column is x, the row is y

use cuda_std::prelude::*;

/// `output[row][column] = factors[row] * input[row][column]`.
///
/// # Safety
/// `input` and `output` hold `n * n` elements, `factors` holds `n`. Blocks have 32 x 8
/// threads, and the launch at least `n` threads in x and in y.
#[kernel]
pub unsafe fn scale_rows(input: *const f32, factors: *const f32, output: *mut f32, n: usize) {
    let place = thread::index_2d();
    // The lanes of a warp differ in x, and read 32 neighbours of one row. They share its factor:
    // one sector for all of them.
    let (row, column) = (place.y as usize, place.x as usize);
    if row < n && column < n {
        let i = row * n + column;
        *output.add(i) = *factors.add(row) * *input.add(i);
    }
}
