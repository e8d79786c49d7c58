//! Twice each element, in one thread.

use cuda_std::prelude::*;

/// Doubles each element.
///
/// # Safety
/// `x` and `y` hold `n` elements; one thread.
#[kernel]
pub unsafe fn reference(x: *const f32, y: *mut f32, n: u32) {
    for i in 0..n as usize {
        *y.add(i) = 2.0 * *x.add(i);
    }
}
