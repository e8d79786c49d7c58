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
    block.finish_in_warp(
        |thread| if thread.number() == 7 { special::exit() } else { 1 }, //~ may end a thread here, while others of its warp go on to combine their values: the branch in line 51 depends on the thread of a phase
        |a, b| a + b,
        |thread, sum| {
            if let Some(output) = output.get_mut(thread) {
                *output = sum;
            }
        },
    );
}

#[kernel(block(256), linear)]
pub fn lanes_end_while_combining(block: Block<256>, mut output: BlockSlice<u32>) {
    block.finish_in_warp(
        |thread| thread.number(),
        |a, b| if a == 7 { special::exit() } else { a + b }, //~ may end a thread here
        |thread, sum| {
            if let Some(output) = output.get_mut(thread) {
                *output = sum;
            }
        },
    );
}

/// The branch on `last` is the same in all threads, the one around it is not.
#[kernel(block(256), linear)]
pub fn lanes_end_in_two_branches(block: Block<256>, last: u32, mut output: BlockSlice<u32>) {
    block.finish_in_warp(
        |thread| thread.number(),
        |a, b| {
            if a > 7 && last > 1 {
                special::exit(); //~ may end a thread here
            }
            a + b
        },
        |thread, sum| {
            if let Some(output) = output.get_mut(thread) {
                *output = sum;
            }
        },
    );
}

#[kernel(block(16, 16))]
pub fn lanes_end_in_a_loop(mut block: Block<16, 16>, mut output: BlockSlice<u32>) {
    let combine = |a: u32, b: u32| {
        let mut sum = a;
        for i in 0..b {
            sum = sum.wrapping_mul(i | 3);
            if sum == 77 {
                special::exit(); //~ may end a thread here
            }
        }
        sum
    };
    let sum = block.warp_reduce(thread::thread_idx_x(), combine);
    block.finish(|thread| { //~ the branch in line 97 depends on
        if let Some(output) = output.get_mut(thread) {
            *output = sum;
        }
    });
}

/// Nobody waits for a thread that ends after the last shuffle.
#[kernel(block(256), linear)]
pub fn lanes_end_at_last(block: Block<256>, mut output: BlockSlice<u32>) {
    block.finish_in_warp(
        |thread| thread.number(),
        |a, b| a + b,
        |thread, sum| {
            if sum == 7 {
                special::exit();
            }
            if let Some(output) = output.get_mut(thread) {
                *output = sum;
            }
        },
    );
}
