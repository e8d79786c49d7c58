//! Copy without the end
//!
//! Say here what the idea is, in a few lines.
//!
//! # Task
//!
//! Say what to do.

use cuda_std::prelude::*;

/// Copies `input` to `output`. Both have the same length.
#[kernel(linear)]
pub fn copy(input: &[f32], mut output: DisjointSlice<f32>) {
    let i = thread::linear_index();
    // TODO: the last block has more threads than there are floats left.
    *output.get_mut(i).unwrap() = input[i.get()];
}
