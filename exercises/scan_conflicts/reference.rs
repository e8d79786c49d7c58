//! Prefix sums in blocks of 512, in one thread.

use cuda_std::prelude::*;

/// For each value the sum of those before it in its block.
///
/// # Safety
/// `input` and `output` hold `n` numbers; one thread.
#[kernel]
pub unsafe fn reference(input: *const u32, output: *mut u32, n: u32) {
    let mut sum = 0;
    for i in 0..n as usize {
        if i % 512 == 0 {
            sum = 0;
        }
        *output.add(i) = sum;
        sum += *input.add(i);
    }
}
