//! Multiplies by a number, in one thread.

use cuda_std::prelude::*;

/// Multiplies each sample by `gain`.
///
/// # Safety
/// `samples` holds `n` elements; one thread.
#[kernel]
pub unsafe fn reference(samples: *mut f32, gain: f32, n: u32) {
    for i in 0..n as usize {
        *samples.add(i) *= gain;
    }
}
