// fails: fermi: occupancy
// Padding in a separate array: now a block takes twice as much shared memory.

use cuda_std::prelude::*;

/// # Safety
/// `input` holds `rows` rows of `cols` elements, `output` has room for `cols` rows of `rows`.
/// Blocks are 32 x 8, one for each tile of 32 x 32, with 4096 bytes of dynamic shared memory.
#[kernel(block(32, 8))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (rows, cols) = (rows as usize, cols as usize);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    // Where the tile begins in the input.
    let (row, col) = (32 * thread::block_idx_y() as usize, 32 * thread::block_idx_x() as usize);

    // A tile has 32 rows and the block 8 rows of threads: four rounds.
    for line in (y..32).step_by(8) {
        if row + line < rows && col + x < cols {
            (*tile)[line][x] = *input.add((row + line) * cols + col + x);
        }
    }
    thread::sync_threads();
    for line in (y..32).step_by(8) {
        if col + line < cols && row + x < rows {
            *output.add((col + line) * rows + row + x) = (*tile)[x][line];
        }
    }
}
