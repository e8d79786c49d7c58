//! Do not look up what you can compute: row `r` starts at `r * (r + 1) / 2`

use cuda_std::prelude::*;

/// `square[row][column]` becomes the element of the packed lower triangle, or 0 above the diagonal.
///
/// # Safety
/// `packed` holds the `n * (n + 1) / 2` elements of the triangle, `starts` where each of its `n`
/// rows starts, `square` has room for `n * n` elements. The launch has a thread for each column,
/// and a row of blocks for each row.
#[kernel]
pub unsafe fn expand(packed: *const f32, _starts: *const u32, square: *mut f32, n: usize) {
    let (row, column) = (thread::block_idx_y() as usize, thread::wide_index_1d());
    if column < n {
        let mut value = 0.0;
        if column <= row {
            // 1 + 2 + ... + row elements come before this row.
            let start = row * (row + 1) / 2;
            value = *packed.add(start + column);
        }
        *square.add(row * n + column) = value;
    }
}
