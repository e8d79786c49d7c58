//! Reverses parts, in one thread.

use cuda_std::prelude::*;

/// Reverses each 256 elements.
#[kernel(linear)]
pub fn reference(input: &[f32], mut output: DisjointSlice<f32>) {
    for i in thread::grid_stride(output.len()) {
        let first = i.get() / 256 * 256;
        if let Some(output) = output.get_mut(i) {
            *output = input[first + 255 - (i.get() - first)];
        }
    }
}
