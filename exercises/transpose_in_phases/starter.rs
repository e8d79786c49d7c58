//! The same kernel in two styles
//!
//! `transpose_plain` is the textbook kernel, with two promises in `unsafe`: that no thread reads
//! the tile before the barrier, and that no two threads write the same element of the output.
//! Nobody checks them but the sanitizer.
//!
//! A kernel in phases (`cuda_std::phases`) promises nothing, because its types say the same:
//!
//! * `block.update(&mut tile, |thread, mut own| ..)` gives each thread what it owns of the tile.
//!   Of rows of 33 floats, in blocks of 32 x 8, thread (x, y) owns rows y, y + 8, y + 16 and y +
//!   24 of column x: `own.each(|line, element| ..)` visits them. Then all wait.
//! * `block.finish(|thread| ..)` is the last phase, in which all threads may read:
//!   `tile.read(thread)[row][col]`.
//! * `output.each(thread, |line, to| ..)` visits the thread's elements of the block's tile of a
//!   `TransposedMatrix`: the tile whose place is that of the input's with rows and columns
//!   exchanged. `line` is the row in it, and `thread.x()` the column.
//!
//! # Task
//!
//! Write `transpose_phased`, without `unsafe`, so that it computes the same with the same
//! accesses: each sector of the output is stored once, there is one barrier, and there are no bank
//! conflicts.

use cuda_std::phases::{Block, Shared, TransposedMatrix};
use cuda_std::prelude::*;

/// The textbook kernel.
#[kernel(block(32, 8))]
pub fn transpose_plain(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());

    for line in (y..32).step_by(8) {
        if let Some(from) = input.get(row + line, col + x) {
            // SAFETY: no other thread has this element before the barrier.
            unsafe { (*tile)[line as usize][x as usize] = *from };
        }
    }
    thread::sync_threads();
    for line in (y..32).step_by(8) {
        // SAFETY: after the barrier all threads only read the tile, and no other thread has this
        // line and row of it.
        unsafe {
            if let Some(to) = output.element_mut(col + line, row + x) {
                *to = (*tile)[x as usize][line as usize];
            }
        }
    }
}

/// The same in phases.
#[kernel(block(32, 8))]
pub fn transpose_phased(
    block: Block<32, 8>,
    tile: Shared<[[f32; 32]; 32]>,
    input: Matrix<f32>,
    output: TransposedMatrix<f32, 32>,
) {
    // TODO: fill the tile in one phase, and write the output in the last one.
    let _ = (block, tile, input, output);
}
