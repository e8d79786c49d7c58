//! The kernel of this exercise.

use cuda_std::prelude::*;

/// Doubles each element of `input`.
///
/// # Safety
/// `input` and `output` hold `n` elements. The launch has a thread for each.
#[kernel]
pub unsafe fn double(input: *const f32, output: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        *output.add(i as usize) = 2.0 * *input.add(i as usize);
    }
}
