//! Shuffle the columns: each row of the tile has a different order

use cuda_std::prelude::*;

/// Where element (y, x) of the tile is kept: in bank `x ^ y`, which differs along each row and
/// along each column.
fn place(y: usize, x: usize) -> usize {
    32 * y + (x ^ y)
}

/// Transposes the matrix.
///
/// # Safety
/// `input` holds `rows` rows of `cols` elements, `output` has room for `cols` rows of `rows`.
/// Blocks are 32 x 8, one for each tile of 32 x 32, with 4096 bytes of dynamic shared memory.
#[kernel(block(32, 8))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    let tile = shared::dynamic_shared_mem::<f32>();
    let (rows, cols) = (rows as usize, cols as usize);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    // Where the tile begins in the input.
    let (row, col) = (32 * thread::block_idx_y() as usize, 32 * thread::block_idx_x() as usize);

    // A tile has 32 rows and the block 8 rows of threads: four rounds.
    for line in (y..32).step_by(8) {
        if row + line < rows && col + x < cols {
            *tile.add(place(line, x)) = *input.add((row + line) * cols + col + x);
        }
    }
    thread::sync_threads();
    for line in (y..32).step_by(8) {
        if col + line < cols && row + x < rows {
            *output.add((col + line) * rows + row + x) = *tile.add(place(x, line));
        }
    }
}
