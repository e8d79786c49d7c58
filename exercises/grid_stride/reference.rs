//! Multiplies by a number, in one thread.

use cuda_std::prelude::*;

/// Multiplies each sample by `gain`.
#[kernel(linear)]
pub fn reference(mut samples: DisjointSlice<f32>, gain: f32) {
    for i in thread::grid_stride(samples.len()) {
        if let Some(sample) = samples.get_mut(i) {
            *sample *= gain;
        }
    }
}
