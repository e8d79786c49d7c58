//! A barrier is for all: the guards are around the accesses, and the barrier is outside

use cuda_std::prelude::*;

/// Rotates each block's elements.
///
/// # Safety
/// `input` and `output` hold `n` elements, and there is a thread for each of them. Blocks have 256
/// threads.
#[kernel(launch_bounds(256))]
pub unsafe fn rotate(input: *const f32, output: *mut f32, n: u32) {
    let stage = shared_array![f32; 256];
    let (t, i) = (thread::thread_idx_x() as usize, thread::index_1d() as usize);
    // How many elements this block has: 256, or what is left.
    let count = (n as usize - (i - t)).min(256);
    if t < count {
        *stage.add(t) = *input.add(i);
    }
    // Threads without an element have nothing to wait for, but the others wait for them.
    thread::sync_threads();
    if t < count {
        *output.add(i) = *stage.add((t + 1) % count);
    }
}
