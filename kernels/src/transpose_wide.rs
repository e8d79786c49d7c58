//! The transpose through a tile whose rows have any width, to find out which widths have no bank
//! conflicts.
//!
//! The floats of a column are `width` words apart, so a warp that reads a column goes through the
//! banks in steps of `width`. With 32 it stays in one bank: 32 wavefronts, as in
//! [`transpose_tiled`](crate::transpose::transpose_tiled). With 33 it visits each bank once, as in
//! [`transpose_padded`](crate::transpose::transpose_padded). Otherwise as many lanes share a bank
//! as the greatest common divisor of `width` and 32 says: 2 with 34, 16 with 48.
//!
//! What to look for: the wavefronts of a shared load, and the picture of its banks.

use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread};

/// The most floats of a row of the tile.
pub const MOST_WIDE: u32 = 64;

/// The tile, with rows of `width` floats. Rows are taken as 32 floats long if `width` is less, and
/// as [`MOST_WIDE`] if it is more.
#[kernel(block(32, 8))]
pub fn transpose_wide(input: Matrix<f32>, mut output: DisjointMatrix<f32>, width: u32) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 32 * 64]> = SharedCell::uninit();
    let (tile, width) = (TILE.as_mut_ptr().cast::<f32>(), width.clamp(32, MOST_WIDE));
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());

    for line in (y..32).step_by(8) {
        if let Some(from) = input.get(row + line, col + x) {
            // SAFETY: at most 31 * 64 + 31 is in the tile; no other thread has this element before
            // the barrier.
            unsafe { *tile.add((line * width + x) as usize) = *from };
        }
    }
    thread::sync_threads();
    for line in (y..32).step_by(8) {
        // SAFETY: after the barrier all threads only read the tile, and no other thread has this
        // line and row of it.
        unsafe {
            if let Some(to) = output.element_mut(col + line, row + x) {
                *to = *tile.add((x * width + line) as usize);
            }
        }
    }
}
