// fails: race
// Counts correctly in each block, and then the blocks lose each other's updates.

use cuda_std::prelude::*;

/// Counts the elements above 0.
///
/// # Safety
/// `input` holds `n` elements, and there is a thread for each of them. `count` holds one number.
#[kernel]
pub unsafe fn count_positive(input: *const f32, n: u32, count: *mut u32) {
    let i = thread::index_1d() as usize;
    let positive = i < n as usize && *input.add(i) > 0.0;
    let of_block = thread::sync_threads_count(u32::from(positive));
    if thread::thread_idx_x() == 0 {
        *count += of_block;
    }
}
