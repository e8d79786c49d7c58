//! A scope that is large enough: the device

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
    // Another block reads the sum, so the scope is the device.
    thread::device_fence();
    if atomic::add(done, 1) == blocks - 1 {
        thread::device_fence();
        let mut all = 0;
        for block in 0..blocks as usize {
            all += *sums.add(block);
        }
        *total = all;
    }
}
