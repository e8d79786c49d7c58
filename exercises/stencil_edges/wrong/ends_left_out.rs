// fails: output[0]
// Computes the middle only: nothing writes the first and the last output.

use cuda_std::prelude::*;

/// Smooths `input` with the weights 1, 2, 1.
///
/// # Safety
/// `input` and `output` hold `n` elements, and there is a thread for each of them.
#[kernel]
pub unsafe fn smooth(input: *const f32, output: *mut f32, n: u32) {
    let (i, n) = (thread::index_1d() as usize, n as usize);
    if i > 0 && i + 1 < n {
        let left = *input.add(i - 1);
        let right = *input.add(i + 1);
        *output.add(i) = (left + 2.0 * *input.add(i) + right) / 4.0;
    }
}
