//! Your first kernel: twice each element

use cuda_std::prelude::*;

/// Doubles each element.
///
/// # Safety
/// `x` and `y` hold an element for each thread of the launch.
#[kernel]
pub unsafe fn double(x: *const f32, y: *mut f32) {
    // The blocks before this one have taken `block_idx * block_dim` elements.
    let i = (thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x()) as usize;
    *y.add(i) = 2.0 * *x.add(i);
}
