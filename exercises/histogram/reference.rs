//! A histogram, in one thread.

use cuda_std::prelude::*;

/// How often each value occurs.
///
/// # Safety
/// `data` holds `n` bytes, `counts` 256 counters; one thread.
#[kernel]
pub unsafe fn reference(data: *const u8, counts: *mut u32, n: u32) {
    for i in 0..n as usize {
        *counts.add(*data.add(i) as usize) += 1;
    }
}
