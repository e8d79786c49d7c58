// fails: race
// Steps by one block, not by the grid: several blocks multiply the same element.

use cuda_std::prelude::*;

/// Multiplies each sample by `gain`.
///
/// # Safety
/// `samples` holds `n` elements.
#[kernel]
pub unsafe fn fade(samples: *mut f32, gain: f32, n: u32) {
    let n = n as usize;
    let mut i = thread::index_1d() as usize;
    while i < n {
        *samples.add(i) *= gain;
        i += thread::block_dim_x() as usize;
    }
}
