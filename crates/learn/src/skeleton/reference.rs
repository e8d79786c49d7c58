//! The right result, computed one element after the other in one thread.

use cuda_std::prelude::*;

/// Copies `input` to `output`. Both have the same length.
#[kernel(linear)]
pub fn reference(input: &[f32], mut output: DisjointSlice<f32>) {
    for i in thread::grid_stride(output.len()) {
        if let Some(output) = output.get_mut(i) {
            *output = input[i.get()];
        }
    }
}
