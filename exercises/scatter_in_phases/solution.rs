//! What phases cannot express: elements that belong to nobody

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use cuda_std::phases::{Block, Shared};
use cuda_std::prelude::*;

/// Moves each value of a block to its place in it.
#[kernel(block(256), linear)]
pub fn scatter(
    mut block: Block<256>,
    tile: Shared<[AtomicU32; 256]>,
    input: &[u32],
    places: &[u32],
    mut output: DisjointSlice<u32>,
) {
    block.each(|thread| {
        let place = places[thread.number() as usize] as usize % 256;
        tile.read(thread)[place].store(input[thread.linear_index().get()], Relaxed);
    });
    block.finish(|thread| {
        if let Some(output) = output.get_mut(thread.linear_index()) {
            *output = tile.read(thread)[thread.number() as usize].load(Relaxed);
        }
    });
}
