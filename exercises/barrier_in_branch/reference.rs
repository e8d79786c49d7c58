//! Rotates parts, in one thread.

use cuda_std::prelude::*;

/// Rotates each 256 elements, and what is left.
#[kernel(linear)]
pub fn reference(input: &[f32], mut output: DisjointSlice<f32>) {
    for i in thread::grid_stride(output.len()) {
        let first = i.get() / 256 * 256;
        let count = (input.len() - first).min(256);
        if let Some(output) = output.get_mut(i) {
            *output = input[first + (i.get() - first + 1) % count];
        }
    }
}
