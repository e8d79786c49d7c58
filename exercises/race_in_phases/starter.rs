//! A race that does not compile
//!
//! A prefix sum in seven steps: in each, every thread adds to its sum the one that is 1, 2, 4, ...
//! places before. After the step of 64, each sum is that of all elements up to its own.
//!
//! The kernel is written in phases (`cuda_std::phases`). Its body is the block's: it has a tile in
//! shared memory, and runs phases, each of which ends with a barrier. In `update` a thread gets
//! what it *owns* of a tile, here one element, and may read and write it. In `each` and `finish`
//! all threads may read tiles, and none may write.
//!
//! In this program a thread reads its neighbour's sum while the neighbour may be writing it: a
//! race. In CUDA it compiles, and fails from time to time. Here it does not compile: `update` has
//! borrowed the tile that its closure wants to read.
//!
//! # Task
//!
//! Make `prefix_sums` compute the prefix sums of each block of 128 elements. Every thread needs
//! its neighbour's *old* sum: keep it where no thread is writing.

use cuda_std::phases::{Block, Shared};
use cuda_std::prelude::*;

/// Prefix sums of each block's elements.
#[kernel(block(128), linear)]
pub fn prefix_sums(
    mut block: Block<128>,
    mut sums: Shared<[u32; 128]>,
    input: &[u32],
    mut output: DisjointSlice<u32>,
) {
    block.update(&mut sums, |thread, own| {
        *own.one() = input.get(thread.linear_index().get()).copied().unwrap_or(0);
    });
    for distance in [1, 2, 4, 8, 16, 32, 64] {
        // TODO: the neighbour's sum is read while it may be written.
        block.update(&mut sums, |thread, own| {
            let t = thread.number() as usize;
            if t >= distance {
                *own.one() += sums.read(thread)[t - distance];
            }
        });
    }
    block.finish(|thread| {
        if let Some(output) = output.get_mut(thread.linear_index()) {
            *output = sums.read(thread)[thread.number() as usize];
        }
    });
}
