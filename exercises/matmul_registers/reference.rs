//! The matrix product, in one thread.

use cuda_std::prelude::*;

/// C = A B.
///
/// # Safety
/// `a` holds `m` rows of `k` elements, `b` `k` rows of `n`, and `c` has room for `m` rows of `n`;
/// one thread.
#[kernel]
pub unsafe fn reference(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    let [m, n, k] = [m, n, k].map(|size| size as usize);
    for row in 0..m {
        for column in 0..n {
            let mut sum = 0.0;
            for i in 0..k {
                sum = f32::mul_add(*a.add(row * k + i), *b.add(i * n + column), sum);
            }
            *c.add(row * n + column) = sum;
        }
    }
}
