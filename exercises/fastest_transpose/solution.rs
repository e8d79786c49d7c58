//! The fastest transpose: a padded tile, and four loads in flight in each thread

use cuda_std::prelude::*;
use cuda_std::unroll;

//@ launch transpose: grid = ["ceil(cols / 32)", "ceil(rows / 32)"], block = [32, 8]

/// A thread's elements of a tile: every eighth line.
const LINES: usize = 4;

/// Transposes the matrix.
///
/// # Safety
/// `input` holds `rows` rows of `cols` elements, `output` has room for `cols` rows of `rows`.
/// Blocks are 32 x 8; there is a block for each tile of 32 x 32.
#[kernel(block(32, 8))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    // Rows are 33 words apart, so that a column lies in 32 banks.
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (32 * thread::block_idx_y(), 32 * thread::block_idx_x());
    let whole = row + 32 <= rows && col + 32 <= cols;

    // All loads begin before the first value is stored.
    let mut values = [0.0; LINES];
    let from = input.add((row + y) as usize * cols as usize + (col + x) as usize);
    unroll::<LINES>(|i| {
        if whole || row + y + 8 * (i as u32) < rows && col + x < cols {
            values[i] = *from.add(8 * i * cols as usize);
        }
    });
    unroll::<LINES>(|i| (*tile)[y as usize + 8 * i][x as usize] = values[i]);
    thread::sync_threads();
    // The tile begins at (col, row) in the output, and x counts its columns: rows of the input.
    let to = output.add((col + y) as usize * rows as usize + (row + x) as usize);
    unroll::<LINES>(|i| {
        if whole || col + y + 8 * (i as u32) < cols && row + x < rows {
            *to.add(8 * i * rows as usize) = (*tile)[x as usize][y as usize + 8 * i];
        }
    });
}
