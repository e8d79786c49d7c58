// fails: y[1]
// Computes the first element of the block in all of its threads.

use cuda_std::prelude::*;

/// Doubles each element.
///
/// # Safety
/// `x` and `y` hold an element for each thread of the launch.
#[kernel]
pub unsafe fn double(x: *const f32, y: *mut f32) {
    let i = (thread::block_idx_x() * thread::block_dim_x()) as usize;
    *y.add(i) = 2.0 * *x.add(i);
}
