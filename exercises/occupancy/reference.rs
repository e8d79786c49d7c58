//! Sums of parts, in one thread.

use cuda_std::prelude::*;

/// The sum of each part of 8192 elements.
///
/// # Safety
/// `input` holds `n` elements, `sums` has one for each part; one thread.
#[kernel]
pub unsafe fn reference(input: *const u32, sums: *mut u32, n: u32) {
    let n = n as usize;
    for first in (0..n).step_by(8192) {
        let mut sum = 0_u32;
        for i in first..n.min(first + 8192) {
            sum = sum.wrapping_add(*input.add(i));
        }
        *sums.add(first / 8192) = sum;
    }
}
