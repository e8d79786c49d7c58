//! A scope that is too small
//!
//! Each block adds up 32 numbers and stores its sum. The block that is done last adds up the sums.
//! Which one that is, a counter says: each block adds 1 to it once its sum is stored, and learns
//! how many were done before.
//!
//! A *fence* orders the accesses before it and those after it, for other threads: here the sum
//! comes before the counter. But for which threads? Each fence has a *scope*:
//!
//! - `thread::block_fence()`: the threads of this block;
//! - `thread::device_fence()`: all threads of the device;
//! - `thread::system_fence()`: also the host and other devices.
//!
//! A larger scope costs more, and a scope that is too small orders nothing for those outside of it.
//! The last block has a fence, too: its loads of the sums come after what it learnt from the
//! counter.
//!
//! # Task
//!
//! Make `add_up` right with fences of the smallest scope that is large enough.

use cuda_std::prelude::*;

/// Adds up all numbers.
///
/// # Safety
/// `sums` has an element for each block, and `done` and `total` have one. `done` is 0. Blocks of
/// one thread.
#[kernel(block(1))]
pub unsafe fn add_up(input: &[u32], sums: *mut u32, done: *mut u32, total: *mut u32) {
    let (block, blocks) = (thread::block_idx_x(), thread::grid_dim_x());
    let own = input.iter().skip(32 * block as usize).take(32);
    *sums.add(block as usize) = own.sum();
    // TODO: who waits for this block's sum?
    thread::block_fence();
    if atomic::add(done, 1) == blocks - 1 {
        thread::block_fence();
        let mut all = 0;
        for block in 0..blocks as usize {
            all += *sums.add(block);
        }
        *total = all;
    }
}
