//! Keep what is not zero: a vote of each warp, and the warps' numbers in shared memory

use cuda_std::prelude::*;

/// Writes the values of each block that are not 0 to the block's 256 places in `kept`, in their
/// order and without gaps, and how many there are to `counts`.
///
/// # Safety
/// `values` holds `n` numbers, `kept` 256 for each block, `counts` one. Blocks have 256 threads,
/// and there is a thread for each value.
#[kernel(block(256))]
pub unsafe fn compact(values: *const u32, kept: *mut u32, counts: *mut u32, n: u32) {
    #[address_space(shared)]
    static KEPT: SharedCell<[u32; 8]> = SharedCell::uninit();
    let warps = KEPT.as_mut_ptr();
    let (t, i) = (thread::thread_idx_x(), thread::wide_index_1d());
    let (warp, lane) = (t / 32, t % 32);
    let value = if i < n as usize { *values.add(i) } else { 0 };

    // All lanes vote, even those without a value.
    let lanes = warp::warp_vote_ballot(warp::FULL, value != 0);
    if lane == 0 {
        (*warps)[warp as usize] = lanes.count_ones();
    }
    thread::sync_threads();

    let (mut before, mut all) = ((lanes & ((1 << lane) - 1)).count_ones(), 0);
    for other in 0..8 {
        all += (*warps)[other as usize];
        if other < warp {
            before += (*warps)[other as usize];
        }
    }
    if value != 0 {
        *kept.add(i - t as usize + before as usize) = value;
    }
    if t == 0 {
        *counts.add(thread::block_idx_x() as usize) = all;
    }
}
