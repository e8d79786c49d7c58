//! Blocks that share

use cuda_std::prelude::*;

/// `distances[row * n + column]` = the bits in which row `row` of A and row `column` of B differ.
///
/// # Safety
/// `a` holds `m` rows of `k` words, `b` holds `n`, `distances` has `m * n` words. `m * n` blocks of
/// 1024 threads.
#[kernel(block(1024))]
pub unsafe fn distances(a: *const u32, b: *const u32, distances: *mut u32, m: u32, n: u32, k: u32) {
    #[address_space(shared)]
    static WARPS: SharedCell<[u32; 32]> = SharedCell::uninit();
    let warps = WARPS.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    let block = thread::block_idx_x();
    // A band has 4 rows of n pairs; the last one may have fewer.
    let (band, within) = (block / (4 * n), block % (4 * n));
    let rows = u32::min(4, m - 4 * band);
    let (row, column) = (4 * band + within % rows, within / rows);
    let (from_a, from_b) = (a.add((row * k) as usize), b.add((column * k) as usize));

    let mut bits = 0;
    for i in (t..k as usize).step_by(1024) {
        bits += (*from_a.add(i) ^ *from_b.add(i)).count_ones();
    }
    // One number a warp, and then one of them all.
    let sum = warp::warp_reduce_first(bits, |a, b| a + b);
    if t % 32 == 0 {
        (*warps)[t / 32] = sum;
    }
    thread::sync_threads();
    if t < 32 {
        let sum = warp::warp_reduce_first((*warps)[t], |a, b| a + b);
        if t == 0 {
            *distances.add((row * n + column) as usize) = sum;
        }
    }
}
