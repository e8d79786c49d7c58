//! Rotates parts, in one thread.

use cuda_std::prelude::*;

/// Rotates each 256 elements, and what is left.
///
/// # Safety
/// `input` and `output` hold `n` elements; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, n: u32) {
    for i in 0..n {
        let first = i / 256 * 256;
        let count = (n - first).min(256);
        *output.add(i as usize) = *input.add((first + (i - first + 1) % count) as usize);
    }
}
