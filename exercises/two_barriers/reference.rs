//! Sums of distances, in one thread.

use cuda_std::prelude::*;

/// Sums up the distances from each element to all elements.
#[kernel(linear)]
pub fn reference(input: &[f32], mut output: DisjointSlice<f32>) {
    for i in thread::grid_stride(output.len()) {
        let own = input[i.get()];
        let mut sum = 0.0;
        for element in input {
            sum += (element - own).abs();
        }
        if let Some(output) = output.get_mut(i) {
            *output = sum;
        }
    }
}
