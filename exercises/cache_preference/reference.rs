//! The input, reversed in parts of 8192 elements, at each index.

use cuda_std::prelude::*;

/// Goes over all elements in order.
///
/// # Safety
/// All three hold `n` elements, and each index is less than `n`.
#[kernel]
pub unsafe fn reference(input: *const f32, index: *const u32, output: *mut f32, n: u32) {
    for i in 0..n as usize {
        let at = *index.add(i) as usize;
        let start = at / 8192 * 8192;
        let count = (n as usize - start).min(8192);
        *output.add(i) = *input.add(start + count - 1 - (at - start));
    }
}
