//! Counts, in one thread.

use cuda_std::prelude::*;

/// Counts the elements above 0.
///
/// # Safety
/// `input` holds `n` elements, `count` one number; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, n: u32, count: *mut u32) {
    let mut found = 0;
    for i in 0..n as usize {
        if *input.add(i) > 0.0 {
            found += 1;
        }
    }
    *count += found;
}
