//! Counters that nobody shares
//!
//! How often does each value occur? Each block counts the values of 2048 bytes, modulo 64: the
//! first step of a radix sort. If all threads had the same 64 counters, two of them could add to
//! one at the same time, and an addition would be lost.
//!
//! `histogram_plain` gives each thread counters that nobody else has: a column of a tile with a row
//! for each value. So it needs no atomic operation. And whatever the values are, the lanes of a
//! warp count in 32 different banks: element (row, column) is word 64 row + column. After the
//! barrier, thread t adds up row t, the counters of value t. It begins with column t, since all
//! rows begin in the same bank. Two promises in `unsafe` say that this is no race. Nobody checks
//! them but the sanitizer.
//!
//! In phases the compiler does. What a thread owns of a tile *is* its column:
//!
//! * In `block.update(&mut counters, |thread, mut own| ..)`, `own.each(|row, counter| ..)` visits
//!   the thread's counters, and `own[row]` is one of them. Then all wait.
//! * In `block.finish(|thread| ..)`, the last phase, all threads may read:
//!   `counters.read(thread)[row][column]`.
//!
//! # Task
//!
//! Write `histogram_phased`, without `unsafe`, so that it computes the same with the same accesses:
//! no atomic operations, one barrier, and no bank conflicts.

use cuda_std::phases::{Block, Shared};
use cuda_std::prelude::*;
use cuda_std::unroll;

/// Elements of a block: 32 for each thread.
const CHUNK: usize = 2048;

/// The textbook kernel.
#[kernel(block(64), linear)]
pub fn histogram_plain(input: &[u8], mut counts: DisjointSlice<u32>) {
    #[address_space(shared)]
    static COUNTERS: SharedCell<[[u32; 64]; 64]> = SharedCell::uninit();
    let counters = COUNTERS.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    let first = CHUNK * thread::block_idx_x() as usize + t;

    for bin in 0..64 {
        // SAFETY: no other thread has this column before the barrier.
        unsafe { (*counters)[bin][t] = 0 };
    }
    unroll::<32>(|step| {
        if let Some(value) = input.get(first + 64 * step) {
            // SAFETY: the same.
            unsafe { (*counters)[*value as usize % 64][t] += 1 };
        }
    });
    thread::sync_threads();
    let mut sum = 0;
    for step in 0..64 {
        // SAFETY: after the barrier all threads only read.
        sum += unsafe { (*counters)[t][(t + step) % 64] };
    }
    if let Some(count) = counts.get_mut(thread::linear_index()) {
        *count = sum;
    }
}

/// The same in phases.
#[kernel(block(64), linear)]
pub fn histogram_phased(
    block: Block<64>,
    counters: Shared<[[u32; 64]; 64]>,
    input: &[u8],
    counts: DisjointSlice<u32>,
) {
    // TODO: clear and count in one phase, and add up in the last one.
    let _ = (block, counters, input, counts);
}
