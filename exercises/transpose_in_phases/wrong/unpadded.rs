// fails: bank_conflicts
//! Rows of 32 words: a column is in one bank.

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
    mut block: Block<32, 8>,
    mut tile: Shared<[[f32; 32]; 32]>,
    input: Matrix<f32>,
    mut output: TransposedMatrix<f32, 32>,
) {
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());

    block.update(&mut tile, |thread, mut own| {
        own.each(|line, element| {
            if let Some(from) = input.get(row + line, col + thread.x()) {
                *element = *from;
            }
        });
    });
    block.finish(|thread| {
        let tile = tile.read(thread);
        output.each(thread, |line, to| *to = tile[thread.x() as usize][line as usize]);
    });
}
