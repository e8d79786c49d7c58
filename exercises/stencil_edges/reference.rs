//! Smooths, in one thread.

use cuda_std::prelude::*;

/// Smooths `input` with the weights 1, 2, 1.
///
/// # Safety
/// `input` and `output` hold `n` elements; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, n: u32) {
    let n = n as usize;
    for i in 0..n {
        let left = if i == 0 { *input } else { *input.add(i - 1) };
        let right = if i == n - 1 { *input.add(n - 1) } else { *input.add(i + 1) };
        *output.add(i) = (left + 2.0 * *input.add(i) + right) / 4.0;
    }
}
