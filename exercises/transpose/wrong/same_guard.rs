// fails: uninitialised read
// Guards the stores with the guard of the loads: in ragged tiles other threads have something to
// write.

use cuda_std::prelude::*;

/// # Safety
/// `input` holds `rows` rows of `cols` elements, `output` has room for `cols` rows of `rows`.
/// Blocks are 32 x 32.
#[kernel(block(32, 32))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (rows, cols) = (rows as usize, cols as usize);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (row, col) = (32 * thread::block_idx_y() as usize, 32 * thread::block_idx_x() as usize);
    let inside = row + y < rows && col + x < cols;
    if inside {
        (*tile)[y][x] = *input.add((row + y) * cols + col + x);
    }
    thread::sync_threads();
    if inside {
        *output.add((col + y) * rows + row + x) = (*tile)[x][y];
    }
}
