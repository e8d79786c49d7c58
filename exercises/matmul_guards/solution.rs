//! A product of any shape

use cuda_std::prelude::*;

/// C = A B.
///
/// # Safety
/// `a` holds `m` rows of `k` elements, `b` `k` rows of `n`, and `c` has room for `m` rows of `n`. A
/// thread's x is a column of C, its y a row; the grid covers C.
#[kernel(launch_bounds((16, 16)))]
pub unsafe fn product(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    let [m, n, k] = [m, n, k].map(|size| size as usize);
    let (column, row) = (thread::index_2d().x as usize, thread::index_2d().y as usize);
    // A thread beyond C has nothing to compute: no row of A, or no column of B.
    if row < m && column < n {
        let mut sum = 0.0;
        for i in 0..k {
            // Rows of A have k elements, rows of B have n.
            sum = f32::mul_add(*a.add(row * k + i), *b.add(i * n + column), sum);
        }
        *c.add(row * n + column) = sum;
    }
}
