// fails: y[256]
// The number in the block is not the number in the grid: all blocks write the first 256 elements.

use cuda_std::prelude::*;

/// Doubles each element.
///
/// # Safety
/// `x` and `y` hold an element for each thread of the launch.
#[kernel]
pub unsafe fn double(x: *const f32, y: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *y.add(i) = 2.0 * *x.add(i);
}
