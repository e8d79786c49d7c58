//! A reduction at the limit: 16 bytes a load, four loads a round

use cuda_std::prelude::*;

/// Blocks of the launch.
const BLOCKS: usize = 16;

/// Threads of a block.
const BLOCK: usize = 256;

/// Threads of the launch.
const THREADS: usize = BLOCKS * BLOCK;

/// The sum of the values of all threads of the block, in thread 0.
///
/// # Safety
/// All 256 threads come here, once.
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
        if warp == 0 {
            let lane_sum = if lane < BLOCK / 32 { (*warp_sums)[lane] } else { 0 };
            return warp::warp_reduce_first(lane_sum, |a, b| a + b);
        }
    }
    value
}

/// Adds the sum of all numbers to `output`.
///
/// # Safety
/// `input` holds `n` elements and starts on 16 bytes, `output` one, which is 0. There are 16 blocks
/// of 256 threads.
#[kernel(block(256))]
pub unsafe fn sum(input: *const i32, output: *mut i32, n: u32) {
    let (first, n) = (thread::wide_index_1d(), n as usize);
    let (words, count) = (input.cast::<i32x4>(), n / 4);
    let mut sums = i32x4::splat(0);
    let mut i = first;
    // Four words at a time: their loads do not wait for each other.
    while i + 3 * THREADS < count {
        let (a, b) = (*words.add(i), *words.add(i + THREADS));
        let (c, d) = (*words.add(i + 2 * THREADS), *words.add(i + 3 * THREADS));
        sums = sums + ((a + b) + (c + d));
        i += 4 * THREADS;
    }
    // At most three words are left for each thread, and then at most three numbers for all.
    while i < count {
        sums = sums + *words.add(i);
        i += THREADS;
    }
    let mut value: i32 = sums.to_array().into_iter().sum();
    if 4 * count + first < n {
        value += *input.add(4 * count + first);
    }

    let block_total = block_sum(value);
    if thread::thread_idx_x() == 0 {
        atomic::add(output, block_total);
    }
}
