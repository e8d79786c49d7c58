//! Prefix sums of blocks of 128 elements, in one thread.

use cuda_std::prelude::*;

/// Prefix sums of each block's elements.
#[kernel(linear)]
pub fn reference(input: &[u32], mut output: DisjointSlice<u32>) {
    let mut sum = 0;
    for i in thread::grid_stride(output.len()) {
        sum = if i.get() % 128 == 0 { 0 } else { sum } + input[i.get()];
        if let Some(output) = output.get_mut(i) {
            *output = sum;
        }
    }
}
