//! Multiplies by a number, in one thread.

use cuda_std::prelude::*;

/// # Safety
/// As for the kernel of the exercise; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, n: usize, factor: f32) {
    for i in 0..n {
        *output.add(i) = factor * *input.add(i);
    }
}
