//! The sums of 32 blocks and of all, in one thread.

use cuda_std::prelude::*;

/// Element `i` belongs to thread `i % 8192`, and so to block `i % 8192 / 256`.
///
/// # Safety
/// `input` holds `n` elements, `partials` 32, `output` one; one thread.
#[kernel]
pub unsafe fn reference(input: *const i32, partials: *mut i32, output: *mut i32, n: u32) {
    for block in 0..32 {
        *partials.add(block) = 0;
    }
    *output = 0;
    for i in 0..n as usize {
        *partials.add(i % 8192 / 256) += *input.add(i);
        *output += *input.add(i);
    }
}
