//! Running totals, in one thread.

use cuda_std::prelude::*;

/// Adds up each value and those before it, and sets all flags.
///
/// # Safety
/// `totals` and `flags` have an element for each value; one thread.
#[kernel(linear)]
pub unsafe fn reference(values: &[u32], totals: *mut u32, flags: *mut u32) {
    let mut total = 0;
    for (i, value) in values.iter().enumerate() {
        total += value;
        *totals.add(i) = total;
        *flags.add(i) = 1;
    }
}
