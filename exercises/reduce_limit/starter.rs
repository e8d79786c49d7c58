//! A reduction at the limit
//!
//! All that you know about reductions, in one kernel. This one is good: its blocks take turns
//! through the input, threads add up in registers, warps by shuffles, blocks in shared memory, and
//! each block makes one atomic addition. What is left?
//!
//! Most instructions are now in the loop over the input. For each number it has a load, an
//! addition, and its share of counting and comparing. A load can fetch 16 bytes for each lane:
//! `*words.add(i)`, where `words` is `input.cast::<i32x4>()`, is four numbers in one instruction.
//! (The address must be a multiple of 16; the input's first one is.) And a round of the loop can
//! fetch several such words before it adds them: then their loads are in flight at the same time,
//! and counting and comparing are done once for all of them.
//!
//! Two values of type `i32x4` can be added with `+` (but there is no `+=`), and `to_array()` turns
//! one into four numbers. Let the words of neighbouring lanes stay neighbours, and do not forget
//! the last n % 4 numbers.
//!
//! # Task
//!
//! Bring the loop to the limit.
//!
//! The goals: a load for each 128 numbers (now for each 32), about two fifths of the instructions,
//! no more than 16 atomic operations, and no sector loaded twice.

use cuda_std::prelude::*;

/// Blocks of the launch.
const BLOCKS: usize = 16;

/// Threads of a block.
const BLOCK: usize = 256;

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
    // TODO: four numbers a load, and several loads a round.
    let mut value = 0;
    let mut i = thread::wide_index_1d();
    while i < n as usize {
        value += *input.add(i);
        i += BLOCKS * BLOCK;
    }

    let block_total = block_sum(value);
    if thread::thread_idx_x() == 0 {
        atomic::add(output, block_total);
    }
}
