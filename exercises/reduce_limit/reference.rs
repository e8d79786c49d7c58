//! The sum of all numbers, in one thread.

use cuda_std::prelude::*;

/// The sum of all elements.
///
/// # Safety
/// `input` holds `n` elements, `output` one; one thread.
#[kernel]
pub unsafe fn reference(input: *const i32, output: *mut i32, n: u32) {
    let mut sum = 0;
    for i in 0..n as usize {
        sum += *input.add(i);
    }
    *output = sum;
}
