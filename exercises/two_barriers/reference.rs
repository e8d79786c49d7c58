//! Sums of distances, in one thread.

use cuda_std::prelude::*;

/// Sums up the distances from each element to all of `n`.
///
/// # Safety
/// `input` and `output` hold `n` elements; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, n: u32) {
    let n = n as usize;
    for i in 0..n {
        let mut sum = 0.0;
        for j in 0..n {
            sum += (*input.add(j) - *input.add(i)).abs();
        }
        *output.add(i) = sum;
    }
}
