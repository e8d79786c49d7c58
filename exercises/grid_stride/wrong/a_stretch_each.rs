// fails: loads.sectors_per_request
// Gives each thread a contiguous piece: neighbouring threads have elements that are far apart.

use cuda_std::prelude::*;

/// Multiplies each sample by `gain`.
#[kernel(linear)]
pub fn fade(mut samples: DisjointSlice<f32>, gain: f32) {
    let threads = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let stretch = samples.len().div_ceil(threads);
    let first = thread::linear_index().get() * stretch;
    for i in first..first + stretch {
        // SAFETY: the stretches of the threads do not overlap.
        if let Some(sample) = unsafe { samples.element_mut(i) } {
            *sample *= gain;
        }
    }
}
