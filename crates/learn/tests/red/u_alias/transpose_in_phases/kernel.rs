//! Another attribute has the name of `#[kernel]`, and marks a function with `unsafe`.

use cuda_std::gpu_only as kernel;
use cuda_std::phases::{Block, Shared, TransposedMatrix};
use cuda_std::prelude::*;

/// What is no kernel.
#[kernel]
#[inline(always)]
fn element(tile: &[[f32; 33]; 32], row: u32, col: u32) -> f32 {
    unsafe { *tile.get_unchecked(row as usize).get_unchecked(col as usize) }
}

/// Neither is this one plain.
#[cuda_std::kernel(block(32, 8))]
pub fn transpose_plain(
    mut block: Block<32, 8>,
    mut tile: Shared<[[f32; 33]; 32]>,
    input: Matrix<f32>,
    mut output: TransposedMatrix<f32, 32>,
) {
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());
    block.update(&mut tile, |thread, mut own| {
        own.each(|line, element| *element = input.get(row + line, col + thread.x()).copied().unwrap_or(0.0));
    });
    block.finish(|thread| {
        let tile = tile.read(thread);
        output.each(thread, |line, to| *to = tile[thread.x() as usize][line as usize]);
    });
}

/// The same, with what is no kernel.
#[cuda_std::kernel(block(32, 8))]
pub fn transpose_phased(
    mut block: Block<32, 8>,
    mut tile: Shared<[[f32; 33]; 32]>,
    input: Matrix<f32>,
    mut output: TransposedMatrix<f32, 32>,
) {
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());
    block.update(&mut tile, |thread, mut own| {
        own.each(|line, element| *element = input.get(row + line, col + thread.x()).copied().unwrap_or(0.0));
    });
    block.finish(|thread| {
        let tile = tile.read(thread);
        output.each(thread, |line, to| *to = element(tile, thread.x(), line));
    });
}
