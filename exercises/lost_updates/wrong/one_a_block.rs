// fails: race
// Counts correctly in each block, and then the blocks lose each other's updates.

use cuda_std::prelude::*;

/// Counts the elements above 0.
///
/// # Safety
/// `count` points to one number, which nothing else uses during the launch.
#[kernel(linear)]
pub unsafe fn count_positive(input: &[f32], count: *mut u32) {
    let element = input.get(thread::linear_index().get());
    let positive = element.is_some_and(|&element| element > 0.0);
    let block_count = thread::sync_threads_count(u32::from(positive));
    if thread::thread_idx_x() == 0 {
        *count += block_count;
    }
}
