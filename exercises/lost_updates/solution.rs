//! No lost updates: an atomic addition

use cuda_std::prelude::*;

/// Counts the elements above 0.
///
/// # Safety
/// `input` holds `n` elements, and there is a thread for each of them. `count` holds one number.
#[kernel]
pub unsafe fn count_positive(input: *const f32, n: u32, count: *mut u32) {
    let i = thread::index_1d() as usize;
    if i < n as usize && *input.add(i) > 0.0 {
        // In whatever order the threads come, each adds to what the one before has left.
        atomic::add(count, 1);
    }
}
