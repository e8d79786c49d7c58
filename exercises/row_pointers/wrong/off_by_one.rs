// fails: square[
// Counts the elements before the row without the row directly above.

use cuda_std::prelude::*;

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn expand(packed: *const f32, _starts: *const u32, square: *mut f32, n: usize) {
    let (row, column) = (thread::block_idx_y() as usize, thread::wide_index_1d());
    if column < n {
        let mut value = 0.0;
        if column <= row {
            let start = row * row.saturating_sub(1) / 2;
            value = *packed.add(start + column);
        }
        *square.add(row * n + column) = value;
    }
}
