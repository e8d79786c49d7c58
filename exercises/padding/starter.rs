//! One column more
//!
//! A block of this transpose moves a tile of 32 x 32 elements: it reads the tile by rows, which is
//! how the input lies in memory, keeps it in shared memory, and writes its columns as rows of the
//! output. So both sides of global memory are accessed side by side.
//!
//! The conflicts arise where the tile is read by columns. Its rows are 32 words long, and shared
//! memory has 32 banks, so a column lies in one bank from top to bottom: a warp that reads a column
//! needs 32 wavefronts, where a row takes one.
//!
//! The distance from one row of an array to the next need not be the width of the tile. Unused
//! elements at the end of each row are called *padding*.
//!
//! # Task
//!
//! Pad the tile so that neither its rows nor its columns have bank conflicts. Matrices have any
//! number of rows and columns.

use cuda_std::prelude::*;

/// Words from one row of the tile to the next.
// TODO: choose another distance.
const WIDTH: usize = 32;

/// Transposes the matrix.
///
/// # Safety
/// `input` holds `rows` rows of `cols` elements, `output` has room for `cols` rows of `rows`.
/// Blocks are 32 x 8, one for each tile of 32 x 32.
#[kernel(block(32, 8))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; WIDTH]; 32]> = SharedCell::uninit();
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
