//! The scatter, a thread for each element.

use cuda_std::prelude::*;

/// Moves each value of a block of 256 to its place in it: for each place, it looks for the value.
#[kernel(linear)]
pub fn reference(input: &[u32], places: &[u32], mut output: DisjointSlice<u32>) {
    for i in thread::grid_stride(output.len()) {
        let (first, place) = (i.get() / 256 * 256, i.get() % 256);
        for t in 0..256 {
            if places[t] as usize == place
                && let Some(output) = output.get_mut(i)
            {
                *output = input[first + t];
            }
        }
    }
}
