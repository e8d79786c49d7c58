// fails: loads.sectors_per_request
// Gives each thread a stretch of its own: neighbouring threads have elements that lie apart.

use cuda_std::prelude::*;

/// Multiplies each sample by `gain`.
///
/// # Safety
/// `samples` holds `n` elements.
#[kernel]
pub unsafe fn fade(samples: *mut f32, gain: f32, n: u32) {
    let n = n as usize;
    let threads = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let stretch = n.div_ceil(threads);
    let first = thread::index_1d() as usize * stretch;
    let mut i = first;
    while i < n && i < first + stretch {
        *samples.add(i) *= gain;
        i += 1;
    }
}
