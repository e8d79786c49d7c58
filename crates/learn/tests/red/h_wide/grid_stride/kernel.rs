//! Words of 16 bytes: the average request has more sectors, and there are fewer of them.

use cuda_std::prelude::*;

/// Multiplies each sample by `gain`.
///
/// # Safety
/// `samples` holds `n` elements.
#[kernel(linear)]
pub unsafe fn fade(samples: *mut f32, n: usize, gain: f32) {
    let threads = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let first = thread::wide_index_1d();
    for i in (first..n / 4).step_by(threads) {
        let word = samples.cast::<f32x4>().add(i);
        *word = f32x4::splat(gain) * *word;
    }
    let tail = n / 4 * 4 + first;
    if tail < n {
        *samples.add(tail) *= gain;
    }
}
