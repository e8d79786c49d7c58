// fails: output[
//! Each thread writes what it owns, which is not the place of its value.

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
        let place = places[thread.number() as usize] as usize % 256;
        if let Some(output) = output.get_mut(thread.linear_index()) {
            *output = tile.read(thread)[place];
        }
    });
}
