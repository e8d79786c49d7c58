//! A macro makes `unsafe` code, for all kernels, of what one kernel gives it.

use cuda_std::phases::{Block, Shared, TransposedMatrix};
use cuda_std::prelude::*;

/// Reads a tile.
pub struct Reader;

/// What the macro implements.
pub trait Read {
    /// An element of a tile.
    fn element(tile: &[[f32; 33]; 32], row: u32, col: u32) -> f32;
}

macro_rules! reader {
    ($word:tt) => {
        impl Read for Reader {
            #[inline(always)]
            fn element(tile: &[[f32; 33]; 32], row: u32, col: u32) -> f32 {
                $word { *tile.get_unchecked(row as usize).get_unchecked(col as usize) }
            }
        }
    };
}

/// The textbook kernel.
#[kernel(block(32, 8))]
pub fn transpose_plain(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    reader!(unsafe);
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
    mut tile: Shared<[[f32; 33]; 32]>,
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
        output.each(thread, |line, to| *to = Reader::element(tile, thread.x(), line));
    });
}
