//! The first batch with an index beyond the table.

use cuda_std::prelude::*;

/// Looks at all indices in order.
///
/// # Safety
/// `index` holds `n` elements, `failed` one.
#[kernel]
pub unsafe fn reference(index: *const u32, failed: *mut u32, n: u32, batch: u32, length: u32) {
    for i in 0..n {
        if *index.add(i as usize) >= length {
            *failed = i / batch;
            return;
        }
    }
}
