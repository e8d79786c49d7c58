// fails: loads.sectors
// The stores are side by side now, and the loads are not: the slow side has only changed.

use cuda_std::prelude::*;

/// # Safety
/// `input` holds `rows` rows of `cols` elements, `output` has room for `cols` rows of `rows`.
/// Blocks are 32 x 32.
#[kernel(block(32, 32))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    let (rows, cols) = (rows as usize, cols as usize);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (row, col) = (32 * thread::block_idx_y() as usize, 32 * thread::block_idx_x() as usize);
    if row + x < rows && col + y < cols {
        *output.add((col + y) * rows + row + x) = *input.add((row + x) * cols + col + y);
    }
}
