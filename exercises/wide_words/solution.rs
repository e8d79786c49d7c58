//! Sixteen bytes at once: one word of four floats in each thread

use cuda_std::prelude::*;

/// `output[i] = factor * input[i]`.
///
/// # Safety
/// `input` and `output` hold `n` elements, `n` is a multiple of 4. Both start at multiples of 16
/// bytes. The launch has at least `n / 4` threads.
#[kernel]
pub unsafe fn scale(input: *const f32, output: *mut f32, n: usize, factor: f32) {
    // Counted in words, not in elements: neighbouring lanes take neighbouring words.
    let (input, output) = (input.cast::<f32x4>(), output.cast::<f32x4>());
    let i = thread::wide_index_1d();
    if i < n / 4 {
        *output.add(i) = f32x4::splat(factor) * *input.add(i);
    }
}
