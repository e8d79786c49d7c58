//! The last warp waits for its lanes

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
    while half > 16 {
        if t < half {
            // SAFETY: in this step only this thread uses these two elements.
            unsafe { (*stage)[t] += (*stage)[t + half] };
        }
        thread::sync_threads();
        half /= 2;
    }

    // 32 sums are left, for one warp. All its lanes add, even those whose sums are not used: each
    // waits until all have read before it writes, and until all have written before it reads.
    if t < 32 {
        // SAFETY: a barrier of the warp stands between every read and write of two lanes.
        unsafe {
            let mut sum = (*stage)[t];
            for half in [16, 8, 4, 2, 1] {
                sum += (*stage)[t + half];
                warp::sync_warp(warp::FULL);
                (*stage)[t] = sum;
                warp::sync_warp(warp::FULL);
            }
        }
    }

    if t == 0 {
        // SAFETY: this thread wrote the sum, and no other one writes this block's output.
        unsafe { *output.element_mut(thread::block_idx_x() as usize).unwrap() = (*stage)[0] };
    }
}
