//! Any grid covers any length: a grid-stride loop

use cuda_std::prelude::*;

/// Multiplies each sample by `gain`.
///
/// # Safety
/// `samples` holds `n` elements.
#[kernel]
pub unsafe fn fade(samples: *mut f32, gain: f32, n: u32) {
    let n = n as usize;
    let threads = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let mut i = thread::index_1d() as usize;
    // The condition is also the guard: a thread without any element never enters the loop.
    while i < n {
        *samples.add(i) *= gain;
        i += threads;
    }
}
