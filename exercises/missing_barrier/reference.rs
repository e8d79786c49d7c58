//! Reverses parts, in one thread.

use cuda_std::prelude::*;

/// Reverses each 256 elements.
///
/// # Safety
/// `input` and `output` hold `n` elements, a multiple of 256; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, n: u32) {
    for i in 0..n as usize {
        let first = i / 256 * 256;
        *output.add(i) = *input.add(first + 255 - (i - first));
    }
}
