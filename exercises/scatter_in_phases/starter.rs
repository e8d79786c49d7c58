//! What phases cannot express
//!
//! Each block rearranges its 256 values: the value of thread t goes to place `places[t]`, in
//! shared memory first, so that the output is written in order. The places are a permutation: no
//! two threads have the same. So there is no race. But the compiler does not know that; it depends
//! on the data, and another array might not be a permutation.
//!
//! A phase gives a thread what it *owns* of a tile, and whom an element belongs to depends on the
//! thread's number alone. Here it depends on the data, and that cannot be said in phases. What can
//! be done?
//!
//! * Give up the check, in an `unsafe` block of a textbook kernel, and answer for it.
//! * Turn the scatter into a gather: each thread looks for the value that belongs to its own
//!   place. Here that takes a loop over all places.
//! * Elements without an owner: an atomic integer may be written by all threads at once. A tile of
//!   `AtomicU32` can be read in a phase, and `store` needs no more than that. If two threads had
//!   the same place, the result would be one of the two values, and nothing worse.
//!
//! # Task
//!
//! Make `scatter` right by the last of these, without `unsafe`.

use cuda_std::phases::{Block, Shared};
use cuda_std::prelude::*;

/// Moves each value of a block to its place in it.
#[kernel(block(256), linear)]
pub fn scatter(
    mut block: Block<256>,
    tile: Shared<[u32; 256]>,
    input: &[u32],
    places: &[u32],
    mut output: DisjointSlice<u32>,
) {
    block.each(|thread| {
        let place = places[thread.number() as usize] as usize % 256;
        // TODO: a tile that all threads may write.
        tile.read(thread)[place] = input[thread.linear_index().get()];
    });
    block.finish(|thread| {
        if let Some(output) = output.get_mut(thread.linear_index()) {
            *output = tile.read(thread)[thread.number() as usize];
        }
    });
}
