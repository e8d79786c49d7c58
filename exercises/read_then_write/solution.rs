//! Read, then write: all threads read, and only then they write

use cuda_std::prelude::*;

/// Moves the elements of each block one place up.
#[kernel(block(256), linear)]
pub fn shift(mut data: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 256]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    // There are as many threads as elements.
    let own = data.get_mut(thread::linear_index()).unwrap();

    // SAFETY: no other thread uses element `t` before the barrier.
    unsafe { (*stage)[t] = *own };
    thread::sync_threads();
    // A variable is the thread's own: no other thread can overwrite it. SAFETY: between these two
    // barriers all threads only read.
    let below = if t > 0 { unsafe { (*stage)[t - 1] } } else { 0.0 };
    // Now all have read what they need.
    thread::sync_threads();
    // SAFETY: from this barrier on each thread uses its own element only.
    unsafe { (*stage)[t] = below };
    thread::sync_threads();
    // SAFETY: from here on each thread uses its own element only.
    *own = unsafe { (*stage)[t] };
}
