// fails: barriers
// Goes on with barriers of the block: seven warps wait five times for the work of one.

use cuda_std::prelude::*;

/// Sums up each block's elements.
#[kernel(block(256), linear)]
pub fn sums(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 256]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    let own = input.get(thread::linear_index().get()).copied().unwrap_or(0.0);
    // SAFETY: each thread writes its own element.
    unsafe { (*stage)[t] = own };
    thread::sync_threads();

    let mut half = 128;
    while half > 0 {
        if t < half {
            // SAFETY: in this step only this thread uses these two elements.
            unsafe { (*stage)[t] += (*stage)[t + half] };
        }
        thread::sync_threads();
        half /= 2;
    }

    if t == 0 {
        // SAFETY: this thread wrote the sum, and no other one writes this block's output.
        unsafe { *output.element_mut(thread::block_idx_x() as usize).unwrap() = (*stage)[0] };
    }
}
