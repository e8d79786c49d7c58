//! Transpose in shared memory: rows in, rows out

use cuda_std::prelude::*;

/// Transposes the matrix.
///
/// # Safety
/// `input` holds `rows` rows of `cols` elements, `output` has room for `cols` rows of `rows`.
/// Blocks are 32 x 32; x counts columns of the input and y rows.
#[kernel(block(32, 32))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    // Rows are 33 words apart, so that a column lies in 32 banks.
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (rows, cols) = (rows as usize, cols as usize);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    // Where the block's tile begins in the input.
    let (row, col) = (32 * thread::block_idx_y() as usize, 32 * thread::block_idx_x() as usize);
    if row + y < rows && col + x < cols {
        (*tile)[y][x] = *input.add((row + y) * cols + col + x);
    }
    thread::sync_threads();
    // The tile begins at (col, row) in the output, and x counts its columns: rows of the input.
    if col + y < cols && row + x < rows {
        *output.add((col + y) * rows + row + x) = (*tile)[x][y];
    }
}
