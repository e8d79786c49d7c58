// fails: race
// Steps by one block, not by the grid: several blocks multiply the same element.

use cuda_std::prelude::*;

/// Multiplies each sample by `gain`.
#[kernel(linear)]
pub fn fade(mut samples: DisjointSlice<f32>, gain: f32) {
    let mut i = thread::linear_index().get();
    // SAFETY: promised, and not kept.
    while let Some(sample) = unsafe { samples.element_mut(i) } {
        *sample *= gain;
        i += thread::block_dim_x() as usize;
    }
}
