// fails: race
// One addition a block, but all blocks add to the same number, and not atomically.

use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: usize = 256;

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

    #[address_space(shared)]
    static WARP_SUMS: SharedCell<[f32; BLOCK / 32]> = SharedCell::uninit();
    let warp_sums = WARP_SUMS.as_mut_ptr();
    let (warp, lane) = (thread::thread_idx_x() as usize / 32, thread::thread_idx_x() as usize % 32);
    let warp_total = warp::warp_reduce_first(sum, |a, b| a + b);
    if lane == 0 {
        (*warp_sums)[warp] = warp_total;
    }
    thread::sync_threads();
    if warp == 0 {
        let lane_sum = if lane < BLOCK / 32 { (*warp_sums)[lane] } else { 0.0 };
        let block_sum = warp::warp_reduce_first(lane_sum, |a, b| a + b);
        if lane == 0 {
            *output += block_sum;
        }
    }
}
