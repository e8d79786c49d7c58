//! Multiplies each row by its factor, in one thread.

use cuda_std::prelude::*;

/// # Safety
/// As for the kernel of the exercise; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, factors: *const f32, output: *mut f32, n: usize) {
    for row in 0..n {
        for column in 0..n {
            let i = row * n + column;
            *output.add(i) = *factors.add(row) * *input.add(i);
        }
    }
}
