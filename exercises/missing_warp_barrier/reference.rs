//! Sums of parts, in one thread.

use cuda_std::prelude::*;

/// Sums up each 256 elements.
#[kernel(linear)]
pub fn reference(input: &[f32], mut output: DisjointSlice<f32>) {
    for part in thread::grid_stride(output.len()) {
        let first = 256 * part.get();
        // In f64, which is closer to the true sum than any order of additions in f32.
        let mut sum = 0.0;
        for element in &input[first..(first + 256).min(input.len())] {
            sum += f64::from(*element);
        }
        if let Some(output) = output.get_mut(part) {
            *output = sum as f32;
        }
    }
}
