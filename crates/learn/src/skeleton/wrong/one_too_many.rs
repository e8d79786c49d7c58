// fails: trap
// Copies one float more than there are.

use cuda_std::prelude::*;

/// Copies `input` to `output`. Both have the same length.
#[kernel(linear)]
pub fn copy(input: &[f32], mut output: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if i.get() <= input.len() {
        *output.get_mut(i).unwrap() = input[i.get()];
    }
}
