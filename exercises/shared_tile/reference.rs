//! The moving average, in one thread.

use cuda_std::prelude::*;

/// The mean of each element's neighbourhood.
///
/// # Safety
/// `input` and `output` hold `n` elements; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, n: u32) {
    let n = n as isize;
    for i in 0..n {
        let mut sum = 0.0;
        for j in i - 8..=i + 8 {
            if 0 <= j && j < n {
                sum += *input.offset(j);
            }
        }
        *output.offset(i) = sum / 17.0;
    }
}
