//! A multiple of one vector added to another, in one thread.

use cuda_std::prelude::*;

/// Adds `a` times `x` to `y`.
///
/// # Safety
/// `x` and `y` hold `n` elements; one thread.
#[kernel]
pub unsafe fn reference(a: f32, x: *const f32, y: *mut f32, n: u32) {
    for i in 0..n as usize {
        *y.add(i) = a * *x.add(i) + *y.add(i);
    }
}
