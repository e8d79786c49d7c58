//! The right result, computed one element after the other.

use cuda_std::prelude::*;

/// # Safety
/// `input` and `output` hold `n` floats.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, n: u32) {
    for i in 0..n as usize {
        *output.add(i) = *input.add(i);
    }
}
