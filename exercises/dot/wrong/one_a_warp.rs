// fails: atomics
// One atomic operation for each warp: eight times too many.

use cuda_std::prelude::*;

/// Adds the dot product of `a` and `b` to `output`.
///
/// # Safety
/// `a` and `b` hold `n` elements, `output` one, which is 0. Blocks have 256 threads.
#[kernel(block(256))]
pub unsafe fn dot(a: *const f32, b: *const f32, output: *mut f32, n: u32) {
    let threads = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let mut sum = 0.0;
    let mut i = thread::wide_index_1d();
    while i < n as usize {
        sum += *a.add(i) * *b.add(i);
        i += threads;
    }

    let warp_total = warp::warp_reduce_first(sum, |a, b| a + b);
    if thread::thread_idx_x() % 32 == 0 {
        atomic::add(output, warp_total);
    }
}
