//! A race that does not compile: two tiles take turns

use cuda_std::phases::{Block, Shared};
use cuda_std::prelude::*;

/// Prefix sums of each block's elements.
#[kernel(block(128), linear)]
pub fn prefix_sums(
    mut block: Block<128>,
    mut sums: Shared<[u32; 128]>,
    mut next: Shared<[u32; 128]>,
    input: &[u32],
    mut output: DisjointSlice<u32>,
) {
    block.update(&mut sums, |thread, own| {
        *own.one() = input.get(thread.linear_index().get()).copied().unwrap_or(0);
    });
    for distance in [1, 2, 4, 8, 16, 32, 64] {
        // All read one tile and write the other.
        block.update(&mut next, |thread, own| {
            let (sums, t) = (sums.read(thread), thread.number() as usize);
            let before = if t >= distance { sums[t - distance] } else { 0 };
            *own.one() = sums[t] + before;
        });
        sums.swap(&mut next);
    }
    block.finish(|thread| {
        if let Some(output) = output.get_mut(thread.linear_index()) {
            *output = sums.read(thread)[thread.number() as usize];
        }
    });
}
