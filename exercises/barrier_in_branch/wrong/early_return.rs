// fails: barrier
// Threads without an element return early: that is the same branch in other words.

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
    let (Some(from), Some(to)) = (input.get(i.get()), output.get_mut(i)) else { return };
    // SAFETY: each thread writes its own element.
    unsafe { (*stage)[t] = *from };
    thread::sync_threads();
    // SAFETY: the first `count` elements were written before the barrier.
    *to = unsafe { (*stage)[(t + 1) % count] };
}
