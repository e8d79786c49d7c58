//! Any grid covers any length: a grid-stride loop

use cuda_std::prelude::*;

/// Multiplies each sample by `gain`.
///
/// Now that you know what is in it: `for i in thread::grid_stride(samples.len())` is this loop, and
/// `get_mut` takes its indices, without `unsafe`.
#[kernel(linear)]
pub fn fade(mut samples: DisjointSlice<f32>, gain: f32) {
    let threads = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let mut i = thread::linear_index().get();
    // The condition is also the guard: a thread without any element never enters the loop.
    // SAFETY: thread `t` has the elements whose number is `t` modulo the number of threads.
    while let Some(sample) = unsafe { samples.element_mut(i) } {
        *sample *= gain;
        i += threads;
    }
}
