// fails: y[768]
// Leaves the whole last block idle where it is not full: its elements keep their values.

use cuda_std::prelude::*;

/// Adds `a` times `x` to `y`.
///
/// # Safety
/// `x` and `y` hold `n` elements, and there is a thread for each of them.
#[kernel]
pub unsafe fn axpy(a: f32, x: *const f32, y: *mut f32, n: u32) {
    let end = (thread::block_idx_x() + 1) * thread::block_dim_x();
    if end <= n {
        let i = thread::index_1d() as usize;
        *y.add(i) = a * *x.add(i) + *y.add(i);
    }
}
