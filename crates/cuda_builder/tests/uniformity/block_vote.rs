//! A vote of the block gives all threads the same answer.

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn block_vote(input: &[u32], mut output: DisjointSlice<u32>) {
    let i = thread::linear_index();
    let mut value = input.get(i.get()).copied().unwrap_or(0);
    while thread::sync_threads_or(value & 1) != 0 {
        value /= 2;
        thread::sync_threads();
    }
    if let Some(output) = output.get_mut(i) {
        *output = value;
    }
}
