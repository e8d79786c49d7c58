//! The last warp does not run in step
//!
//! A block of 256 threads adds up 256 values in shared memory: in each step, half as many threads
//! add the other half of the values to their own. When 32 sums are left, one warp does the rest,
//! and the other warps need not wait for it. Lectures on early GPUs left out every barrier there:
//! the 32 threads of a warp, its *lanes*, executed each instruction together.
//!
//! Today that is wrong, for two reasons.
//!
//! - The compiler sees one thread, and nothing in that thread writes `stage[t + 8]`. So it keeps
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
//! order them by barriers of the warp: all 32 lanes must come to each of these, and within a step,
//! too, no lane may write what another one has yet to read. Do not add barriers of the block: the
//! other warps have nothing left to do.

use cuda_std::prelude::*;

/// Sums up each block's elements.
///
/// # Safety
/// `input` holds `n` elements, `output` one for each block. Blocks have 256 threads, and there is a
/// thread for each element.
#[kernel(launch_bounds(256))]
pub unsafe fn sums(input: *const f32, output: *mut f32, n: u32) {
    let stage = shared_array![f32; 256];
    let (t, i) = (thread::thread_idx_x() as usize, thread::index_1d() as usize);
    *stage.add(t) = if i < n as usize { *input.add(i) } else { 0.0 };
    thread::sync_threads();

    let mut half = 128;
    while half > 16 {
        if t < half {
            *stage.add(t) += *stage.add(t + half);
        }
        thread::sync_threads();
        half /= 2;
    }

    // 32 sums are left, for one warp.
    if t < 32 {
        // TODO: five steps, with nothing to order them.
        *stage.add(t) += *stage.add(t + 16);
        *stage.add(t) += *stage.add(t + 8);
        *stage.add(t) += *stage.add(t + 4);
        *stage.add(t) += *stage.add(t + 2);
        *stage.add(t) += *stage.add(t + 1);
    }
    if t == 0 {
        *output.add(thread::block_idx_x() as usize) = *stage;
    }
}
