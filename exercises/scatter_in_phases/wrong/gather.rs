// fails: instructions
//! A gather: each thread looks for the value of its place.

use cuda_std::phases::{Block, Shared};
use cuda_std::prelude::*;

/// Moves each value of a block to its place in it.
#[kernel(block(256), linear)]
pub fn scatter(
    mut block: Block<256>,
    mut tile: Shared<[u32; 256]>,
    input: &[u32],
    places: &[u32],
    mut output: DisjointSlice<u32>,
) {
    block.update(&mut tile, |thread, own| *own.one() = input[thread.linear_index().get()]);
    block.finish(|thread| {
        if let Some(output) = output.get_mut(thread.linear_index()) {
            for t in 0..256 {
                if places[t] == thread.number() {
                    *output = tile.read(thread)[t];
                }
            }
        }
    });
}
