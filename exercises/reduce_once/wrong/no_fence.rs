// fails: race
// Nothing keeps the write of the sum before the drawing of the number.

use cuda_std::prelude::*;

/// Blocks of the launch.
const BLOCKS: usize = 32;

/// Threads of a block.
const BLOCK: usize = 256;

/// The sum of the values of all threads of the block, in thread 0.
///
/// # Safety
/// All 256 threads come here.
#[inline(always)]
unsafe fn block_sum(value: i32) -> i32 {
    #[address_space(shared)]
    static WARP_SUMS: SharedCell<[i32; BLOCK / 32]> = SharedCell::uninit();
    let warp_sums = WARP_SUMS.as_mut_ptr();
    let (warp, lane) = (thread::thread_idx_x() as usize / 32, thread::thread_idx_x() as usize % 32);
    // SAFETY: all threads are here, and there is a place for each warp.
    unsafe {
        let warp_total = warp::warp_reduce_first(value, |a, b| a + b);
        if lane == 0 {
            (*warp_sums)[warp] = warp_total;
        }
        thread::sync_threads();
        let lane_sum = if lane < BLOCK / 32 { (*warp_sums)[lane] } else { 0 };
        // For those who call this twice: the second call writes what is read here.
        thread::sync_threads();
        warp::warp_reduce_first(lane_sum, |a, b| a + b)
    }
}

/// Writes the sum of each block's numbers to `partials`, and that of all to `output`.
///
/// # Safety
/// `input` holds `n` elements, `partials` 32, `output` one; `arrived` is 0. There are 32 blocks of
/// 256 threads.
#[kernel(block(256))]
pub unsafe fn sum(
    input: *const i32,
    partials: *mut i32,
    arrived: *mut u32,
    output: *mut i32,
    n: u32,
) {
    let (t, block) = (thread::thread_idx_x(), thread::block_idx_x() as usize);
    let mut value = 0;
    let mut i = thread::wide_index_1d();
    while i < n as usize {
        value += *input.add(i);
        i += BLOCKS * BLOCK;
    }
    let block_total = block_sum(value);
    // Thread 0 draws the block's number; the others learn by the barrier.
    #[address_space(shared)]
    static LAST: SharedCell<bool> = SharedCell::uninit();
    let last = LAST.as_mut_ptr();
    if t == 0 {
        *partials.add(block) = block_total;
        *last = atomic::inc(arrived, BLOCKS as u32 - 1) == BLOCKS as u32 - 1;
    }
    thread::sync_threads();

    if *last {
        let total = block_sum(if (t as usize) < BLOCKS { *partials.add(t as usize) } else { 0 });
        if t == 0 {
            *output = total;
        }
    }
}
