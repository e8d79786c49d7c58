// fails: out of bounds
// Compares the number of the word with the number of elements.

use cuda_std::prelude::*;

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn scale(input: *const f32, output: *mut f32, n: usize, factor: f32) {
    let (input, output) = (input.cast::<f32x4>(), output.cast::<f32x4>());
    let i = thread::wide_index_1d();
    if i < n {
        *output.add(i) = f32x4::splat(factor) * *input.add(i);
    }
}
