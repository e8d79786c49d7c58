//! Phases in both arms of a branch on the thread: alike, they could be taken for one.

use cuda_std::phases::{Block, BlockSlice, Shared};
use cuda_std::prelude::*;

#[kernel(block(64), linear)]
pub fn two_owners(mut block: Block<64>, mut tile: Shared<[u32; 2]>, output: BlockSlice<u32>) {
    if thread::thread_idx_x() < 32 {
        block.fill_by_warp(&mut tile, |_| 1); //~ not all threads
    } else {
        block.fill(&mut tile, |_, _| 1); //~ not all threads
    }
    first(block, tile, output);
}

#[kernel(block(64), linear)]
pub fn two_pairs(mut block: Block<64>, mut tile: Shared<[u32; 64]>, output: BlockSlice<u32>) {
    if thread::thread_idx_x() < 32 {
        block.pairs(&mut tile, 1, |a, b| *a += *b); //~ not all threads
    } else {
        block.pairs(&mut tile, 2, |a, b| *a += *b); //~ not all threads
    }
    first(block, tile, output);
}

#[kernel(block(64), linear)]
pub fn two_empty(mut block: Block<64>, tile: Shared<[u32; 64]>, output: BlockSlice<u32>) {
    if thread::thread_idx_x() < 32 {
        block.each(|_| ()); //~ not all threads
    } else {
        block.each(|_| ()); //~ not all threads
    }
    first(block, tile, output);
}

#[kernel(block(64), linear)]
pub fn two_shuffles(mut block: Block<64>, mut tile: Shared<[u32; 64]>, output: BlockSlice<u32>) {
    let x = thread::thread_idx_x();
    let sum = if x % 2 == 0 {
        block.warp_reduce(x, |a, b| a + b) //~ not all threads
    } else {
        block.warp_reduce(x, |a, b| a * b) //~ not all threads
    };
    block.fill(&mut tile, |_, _| sum);
    first(block, tile, output);
}

/// Writes the tile's first element.
fn first<const N: usize>(block: Block<64>, tile: Shared<[u32; N]>, mut output: BlockSlice<u32>) {
    block.finish(|thread| {
        if let Some(output) = output.get_mut(thread) {
            *output = tile.read(thread)[0];
        }
    });
}
