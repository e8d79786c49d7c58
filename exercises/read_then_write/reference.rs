//! Moves elements up, in one thread.

use cuda_std::prelude::*;

/// Moves the elements of each 256 one place up.
///
/// # Safety
/// `data` holds `n` elements; one thread.
#[kernel]
pub unsafe fn reference(data: *mut f32, n: u32) {
    // From the end, so that each element is read before it is overwritten.
    for i in (0..n as usize).rev() {
        *data.add(i) = if i % 256 == 0 { 0.0 } else { *data.add(i - 1) };
    }
}
