//! Phases of `cuda_std::phases` that depend on the thread, or on tiles that do.

use cuda_std::phases::{Block, BlockSlice, Shared};
use cuda_std::prelude::*;

#[kernel(block(64), linear)]
pub fn phase_in_branch(mut block: Block<64>, mut tile: Shared<[u32; 64]>, output: BlockSlice<u32>) {
    if thread::thread_idx_x() < 16 {
        block.update(&mut tile, |_, own| *own.one() = 1); //~ has a phase that not all threads of a block may go through: the branch in line 8 depends on `thread_idx_x()` in line 8
    }
    first(block, tile, output);
}

#[kernel(block(64), linear)]
pub fn phase_in_loop(mut block: Block<64>, mut tile: Shared<[u32; 64]>, output: BlockSlice<u32>) {
    for i in 0..thread::thread_idx_x() {
        block.update(&mut tile, |_, own| *own.one() = i); //~ the branch in line 16 depends on `thread_idx_x()` in line 16
    }
    first(block, tile, output);
}

#[kernel(block(64), linear)]
pub fn phase_by_kept_value(mut block: Block<64>, mut tile: Shared<[u32; 64]>, output: BlockSlice<u32>) {
    let mut large = false;
    block.update(&mut tile, |thread, own| {
        *own.one() = 1;
        large = thread.x() > 5;
    });
    if large {
        block.update(&mut tile, |_, own| *own.one() = 2); //~ the branch in line 29 depends on the thread of a phase in line 25
    }
    first(block, tile, output);
}

#[kernel(block(64), linear)]
pub fn tiles_exchanged(
    mut block: Block<64>,
    mut a: Shared<[u32; 64]>,
    mut b: Shared<[u32; 64]>,
    output: BlockSlice<u32>,
) {
    if thread::thread_idx_x() < 16 {
        a.swap(&mut b);
    }
    block.update(&mut a, |thread, own| *own.one() = b.read(thread)[63 - thread.x() as usize]); //~ give this phase different operands (a tile, a distance): they depend on `thread_idx_x()` in line 42
    first(block, a, output);
}

#[kernel(block(64), linear)]
pub fn tile_of_an_array(
    mut block: Block<64>,
    a: Shared<[u32; 64]>,
    b: Shared<[u32; 64]>,
    output: BlockSlice<u32>,
) {
    let mut tiles = [a, b];
    block.update(&mut tiles[thread::thread_idx_x() as usize % 2], |_, own| *own.one() = 1); //~ give this phase different operands
    let [a, _] = tiles;
    first(block, a, output);
}

#[kernel(block(64), linear)]
pub fn distance_of_pairs(mut block: Block<64>, mut tile: Shared<[u32; 64]>, output: BlockSlice<u32>) {
    block.pairs(&mut tile, thread::thread_idx_x(), |first, second| *first += second); //~ give this phase different operands
    first(block, tile, output);
}

#[kernel(block(64), linear)]
pub fn lanes_that_end(mut block: Block<64>) {
    let mut sum = thread::thread_idx_x();
    sum = block.warp_reduce(sum, |a, b| if a == 40 { special::exit() } else { a + b }); //~ depends on
    block.each(|_| _ = sum); //~ depends on
    block.finish(|_| ()); //~ depends on
}

/// Writes the tile's first element.
fn first(block: Block<64>, tile: Shared<[u32; 64]>, mut output: BlockSlice<u32>) {
    block.finish(|thread| {
        if let Some(output) = output.get_mut(thread) {
            *output = tile.read(thread)[0];
        }
    });
}
