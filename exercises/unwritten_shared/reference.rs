//! Ranks in tiles, a thread for each element.

use cuda_std::prelude::*;

/// Counts the smaller elements in each element's tile of 64.
#[kernel(linear)]
pub fn reference(input: &[f32], mut output: DisjointSlice<u32>) {
    for i in thread::grid_stride(output.len()) {
        let first = i.get() / 64 * 64;
        let tile = &input[first..(first + 64).min(input.len())];
        let mut smaller = 0;
        for element in tile {
            if *element < input[i.get()] {
                smaller += 1;
            }
        }
        if let Some(output) = output.get_mut(i) {
            *output = smaller;
        }
    }
}
