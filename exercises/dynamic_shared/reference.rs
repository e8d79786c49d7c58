//! Reverses parts, in one thread.

use cuda_std::prelude::*;

/// Reverses each part of `part` elements.
///
/// # Safety
/// `input` and `output` hold `n` elements; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, n: u32, part: u32) {
    for i in 0..n {
        let first = i / part * part;
        let count = (n - first).min(part);
        *output.add(i as usize) = *input.add((first + count - 1 - (i - first)) as usize);
    }
}
