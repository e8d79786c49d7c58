//! The padded transpose with its tiles in another order: neighbouring blocks take tiles along a
//! diagonal of the matrix, not along a row. (Ruetsch and Micikevicius, "Optimizing Matrix Transpose
//! in CUDA", 2009.)
//!
//! On G80 and GT200, consecutive 256 bytes of memory belong to consecutive *partitions*, each with
//! its own memory controller: six and eight of them. Blocks that run at the same time are
//! neighbours. In [`transpose_padded`](crate::transpose::transpose_padded) they read along a row of
//! tiles, through all partitions, but write along a column. If a row has a multiple of 512 floats,
//! all of a column of tiles is in one of GT200's partitions. The others idle, which is called
//! *partition camping*. Tiles along a diagonal differ in both row and column, so that reads and
//! writes go through all partitions.
//!
//! Later GPUs choose the partition by a hash of the address and have an L2 cache in front of it:
//! the diagonal order gains nothing. An H100 takes 771 us for 16384 x 16384 floats with
//! `transpose_padded` and 810 us with this kernel (2026-11-27).
//!
//! What to look for: not the counters, which are those of `transpose_padded`, but the times that
//! `--device sim:tesla --predict` shows, with 2048 rows and columns and with 2080.

use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread};

/// Transposes the tiles diagonal by diagonal. The grid is [`grid`](crate::transpose::grid)'s, of
/// which any shape will do.
#[kernel(block(32, 8))]
pub fn transpose_diagonal(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());

    // The blocks in the order in which they start: a diagonal has a tile of each row of tiles.
    let [across, down] = [thread::grid_dim_x(), thread::grid_dim_y() * thread::grid_dim_z()];
    let block = thread::block_row() * across + thread::block_idx_x();
    let (diagonal, tile_row) = (block / down, block % down);
    let (row, col) = (32 * tile_row, 32 * ((diagonal + tile_row) % across));

    for line in (y..32).step_by(8) {
        if let Some(from) = input.get(row + line, col + x) {
            // SAFETY: no other thread has this element before the barrier.
            unsafe { (*tile)[line as usize][x as usize] = *from };
        }
    }
    thread::sync_threads();
    for line in (y..32).step_by(8) {
        // SAFETY: after the barrier all threads only read the tile. No other block has this tile,
        // since row and diagonal say which it is, and no other thread this line and row of it.
        unsafe {
            if let Some(to) = output.element_mut(col + line, row + x) {
                *to = (*tile)[x as usize][line as usize];
            }
        }
    }
}
