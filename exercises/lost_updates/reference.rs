//! Counts, in one thread.

use cuda_std::prelude::*;

/// Counts the elements above 0.
///
/// # Safety
/// `count` points to one number; one thread.
#[kernel(linear)]
pub unsafe fn reference(input: &[f32], count: *mut u32) {
    for element in input {
        if *element > 0.0 {
            *count += 1;
        }
    }
}
