//! Shuffles in phases, in blocks of several shapes, and lanes that end between them.

use cuda_std::phases::{Block, BlockSlice};
use cuda_std::prelude::*;

#[kernel(block(256), linear)]
pub fn warps_in_line(mut block: Block<256>, mut output: BlockSlice<u32>) {
    let sum = block.warp_reduce(thread::thread_idx_x(), |a, b| a + b);
    block.finish_in_warp(
        |thread| thread.number() + sum,
        |a, b| a.max(b),
        |thread, sum| {
            if let Some(output) = output.get_mut(thread) {
                *output = sum;
            }
        },
    );
}

#[kernel(block(32, 8))]
pub fn warps_in_rows(mut block: Block<32, 8>, mut output: BlockSlice<u32>) {
    let sum = block.warp_reduce(thread::thread_idx_y(), |a, b| a + b);
    block.finish_in_warp(
        |thread| thread.number() + sum,
        |a, b| a.max(b),
        |thread, sum| {
            if let Some(output) = output.get_mut(thread) {
                *output = sum;
            }
        },
    );
}

#[kernel(block(16, 16))]
pub fn warps_of_two_rows(mut block: Block<16, 16>, mut output: BlockSlice<u32>) {
    let sum = block.warp_reduce(thread::thread_idx_y(), |a, b| a + b);
    block.finish_in_warp(
        |thread| thread.number() + sum,
        |a, b| a.max(b),
        |thread, sum| {
            if let Some(output) = output.get_mut(thread) {
                *output = sum;
            }
        },
    );
}

#[kernel(block(256), linear)]
pub fn lanes_end(block: Block<256>, mut output: BlockSlice<u32>) {
    block.finish_in_warp( //~ not all threads of a block may go through: the branch in line 51 depends on the thread of a phase
        |thread| if thread.number() == 7 { special::exit() } else { 1 },
        |a, b| a + b,
        |thread, sum| {
            if let Some(output) = output.get_mut(thread) {
                *output = sum;
            }
        },
    );
}
