//! The dot product, in one thread.

use cuda_std::prelude::*;

/// The sum of all products.
///
/// # Safety
/// `a` and `b` hold `n` elements, `output` one; one thread.
#[kernel]
pub unsafe fn reference(a: *const f32, b: *const f32, output: *mut f32, n: u32) {
    let mut sum = 0.0;
    for i in 0..n as usize {
        sum += *a.add(i) * *b.add(i);
    }
    *output = sum;
}
