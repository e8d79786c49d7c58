//! The last warp does not run in lockstep
//!
//! A block of 256 threads adds up 256 values in shared memory: in each step, half as many threads
//! add the other half of the values to their own. When 32 sums are left, one warp does the rest,
//! and the other warps need not wait for it. Lectures on early GPUs left out every barrier there:
//! the 32 threads of a warp, its *lanes*, executed each instruction together, in *lockstep*.
//!
//! Today that is wrong, for two reasons.
//!
//! - The compiler sees one thread, and nothing in that thread writes `(*stage)[t + 8]`. So it keeps
//!   the sum in a register for all five steps, and stores it once at the end: the other lanes read
//!   old values. *Volatile* accesses, `shared::load` and `shared::store`, would stop it.
//! - Since Volta (2017) the lanes of a warp need not be at the same instruction. One may write what
//!   another has not read yet. That takes a barrier: `warp::sync_warp(warp::FULL)` waits for all 32
//!   lanes, and orders their accesses. It also stops the compiler, and then volatile accesses are
//!   not needed.
//!
//! # Task
//!
//! `sums` writes the sum of each group of 256 elements. Keep the last steps in shared memory, and
//! order them by barriers of the warp: all 32 lanes must reach each of these, and within a step,
//! too, no lane may write what another one has yet to read. Do not add barriers of the block: the
//! other warps have nothing left to do.

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

    // 32 sums are left, for one warp.
    if t < 32 {
        // SAFETY: TODO: five steps, with nothing to order them.
        unsafe {
            (*stage)[t] += (*stage)[t + 16];
            (*stage)[t] += (*stage)[t + 8];
            (*stage)[t] += (*stage)[t + 4];
            (*stage)[t] += (*stage)[t + 2];
            (*stage)[t] += (*stage)[t + 1];
        }
    }

    if t == 0 {
        // SAFETY: this thread wrote the sum, and no other one writes this block's output.
        unsafe { *output.element_mut(thread::block_idx_x() as usize).unwrap() = (*stage)[0] };
    }
}
