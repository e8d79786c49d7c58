// fails: borrowed data escapes outside of closure
//! A reference to the tile cannot be kept for the next phase, in which others write.

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
        let mut old = &[0; 128];
        block.each(|thread| old = sums.read(thread));
        block.update(&mut sums, |thread, own| {
            let t = thread.number() as usize;
            if t >= distance {
                *own.one() += old[t - distance];
            }
        });
    }
    block.finish(|thread| {
        if let Some(output) = output.get_mut(thread.linear_index()) {
            *output = sums.read(thread)[thread.number() as usize];
        }
    });
}
