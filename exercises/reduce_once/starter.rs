//! One launch: the last block finishes the work
//!
//! 32 blocks add up all numbers: each block's threads take turns through the input, and the block
//! writes its sum to `partials`. The 32 sums are then added up by a second launch. It has hardly
//! anything to do, but every launch takes a few microseconds.
//!
//! The blocks of an ordinary launch cannot wait for each other, but they can find out who is last.
//! Each block that has written its sum draws a number: `atomic::inc(arrived, 31)` returns 0, 1, 2,
//! and so on, no number twice. The block that draws 31 knows that all others have arrived, and adds
//! up the sums. `inc` counts up to its limit, here 31, and then starts again at 0, so the counter
//! is ready for the next launch.
//!
//! One thing is missing. A write to memory and an atomic operation after it may become visible to
//! other blocks in either order. `thread::device_fence()` between the two keeps them in order. A
//! second one is needed between drawing the number and reading what the others wrote.
//!
//! # Task
//!
//! Let `sum` write the sum of all numbers to `output`, and delete `finish`: a kernel that your file
//! does not have is not launched. `arrived` is 0 before the launch and must be 0 after it, and each
//! block's sum must still be in `partials`.
//!
//! The goals: one launch, and no more loads than before.
//!
//! # What the clock says
//!
//! On an H200 (2^25 numbers) both take 0.47 ms, since 32 blocks are far too few for its 132
//! multiprocessors. The saved launch matters where the work is small.

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

/// Writes the sum of each block's numbers to `partials`.
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
    if t == 0 {
        *partials.add(block) = block_total;
    }
    // TODO: draw a number; if it is the last, add up what is in `partials`, here. Which threads
    // have to know?
    let _ = (arrived, output);
}

/// Writes the sum of all to `output`.
///
/// # Safety
/// As for [`sum`], with what it wrote to `partials`. One block of 256 threads.
#[kernel(block(256))]
pub unsafe fn finish(partials: *const i32, output: *mut i32) {
    let t = thread::thread_idx_x() as usize;
    let total = block_sum(if t < BLOCKS { *partials.add(t) } else { 0 });
    if t == 0 {
        *output = total;
    }
}
