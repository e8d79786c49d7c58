//! Half of each element.

use cuda_std::prelude::*;

/// Goes over all elements in order.
///
/// # Safety
/// `input` and `output` hold `n` elements.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, n: u32) {
    for i in 0..n as usize {
        *output.add(i) = 0.5 * *input.add(i);
    }
}
