//! An array as large as the launch says: dynamic shared memory

use cuda_std::prelude::*;

/// Reverses each block's part.
///
/// # Safety
/// `input` and `output` hold `n` elements. There is a thread for each element, and each block has 4
/// bytes of dynamic shared memory for each of its threads.
#[kernel]
pub unsafe fn reverse(input: *const f32, output: *mut f32, n: u32) {
    let stage = shared::dynamic_shared_mem::<f32>();

    let t = thread::thread_idx_x() as usize;
    // The launch decides on the size of a part.
    let part = thread::block_dim_x() as usize;
    let first = thread::block_idx_x() as usize * part;
    let count = (n as usize - first).min(part);
    if t < count {
        *stage.add(t) = *input.add(first + t);
    }
    thread::sync_threads();
    if t < count {
        *output.add(first + t) = *stage.add(count - 1 - t);
    }
}
