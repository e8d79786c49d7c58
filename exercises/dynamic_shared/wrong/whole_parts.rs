// fails: uninitialised read
// Counts from the end of the stage, also in the last block, where only its beginning was written.

use cuda_std::prelude::*;

/// # Safety
/// `input` and `output` hold `n` elements. There is a thread for each element.
#[kernel]
pub unsafe fn reverse(input: *const f32, output: *mut f32, n: u32) {
    let stage = shared::dynamic_shared_mem::<f32>();
    let t = thread::thread_idx_x() as usize;
    let part = thread::block_dim_x() as usize;
    let i = thread::wide_index_1d();
    if i < n as usize {
        *stage.add(t) = *input.add(i);
    }
    thread::sync_threads();
    if i < n as usize {
        *output.add(i) = *stage.add(part - 1 - t);
    }
}
