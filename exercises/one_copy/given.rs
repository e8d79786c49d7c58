//! The kernel of this exercise.

use cuda_std::prelude::*;

/// Halves each element.
///
/// # Safety
/// `values` holds `n` elements. The launch has a thread for each.
#[kernel]
pub unsafe fn halve(values: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        *values.add(i as usize) *= 0.5;
    }
}
