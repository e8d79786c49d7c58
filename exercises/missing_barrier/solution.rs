//! Wait for what others write: a barrier between writing and reading

use cuda_std::prelude::*;

/// Reverses each block's elements.
#[kernel(block(256), linear)]
pub fn reverse(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 256]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // There are as many threads as elements.
    let output = output.get_mut(i).unwrap();

    // SAFETY: each thread writes its own element.
    unsafe { (*stage)[t] = input[i.get()] };
    // The stage is full when all threads have been here.
    thread::sync_threads();
    // SAFETY: all elements were written before the barrier, and no thread writes after it.
    *output = unsafe { (*stage)[255 - t] };
}
