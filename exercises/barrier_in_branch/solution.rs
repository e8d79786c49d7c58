//! A barrier is for all threads: the guards are around the accesses, and the barrier is
//! outside

use cuda_std::prelude::*;

/// Rotates each block's elements.
#[kernel(block(256), linear)]
pub fn rotate(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 256]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // How many elements this block has: 256, or what is left.
    let count = (input.len() - (i.get() - t)).min(256);
    if let Some(from) = input.get(i.get()) {
        // SAFETY: each thread writes its own element.
        unsafe { (*stage)[t] = *from };
    }
    // Threads without an element have nothing to wait for, but the others wait for them.
    thread::sync_threads();
    if let Some(to) = output.get_mut(i) {
        // SAFETY: the first `count` elements were written before the barrier.
        *to = unsafe { (*stage)[(t + 1) % count] };
    }
}
