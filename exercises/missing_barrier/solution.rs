//! Wait for what others write: a barrier between writing and reading

use cuda_std::prelude::*;

/// Reverses each block's elements.
///
/// # Safety
/// `input` and `output` hold an element for each thread. Blocks have 256 threads.
#[kernel(launch_bounds(256))]
pub unsafe fn reverse(input: *const f32, output: *mut f32) {
    let stage = shared_array![f32; 256];
    let (t, i) = (thread::thread_idx_x() as usize, thread::index_1d() as usize);
    *stage.add(t) = *input.add(i);
    // The stage is full when all threads have been here.
    thread::sync_threads();
    *output.add(i) = *stage.add(255 - t);
}
