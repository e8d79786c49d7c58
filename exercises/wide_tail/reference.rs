//! Adds two arrays, in one thread.

use cuda_std::prelude::*;

/// # Safety
/// As for the kernel of the exercise; one thread.
#[kernel]
pub unsafe fn reference(a: *const f32, b: *const f32, c: *mut f32, n: usize) {
    for i in 0..n {
        *c.add(i) = *a.add(i) + *b.add(i);
    }
}
