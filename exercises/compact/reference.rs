//! Compaction in blocks of 256, in one thread.

use cuda_std::prelude::*;

/// The values of each block that are not 0, and how many there are.
///
/// # Safety
/// `values` holds `n` numbers, `kept` 256 for each block, `counts` one; one thread.
#[kernel]
pub unsafe fn reference(values: *const u32, kept: *mut u32, counts: *mut u32, n: u32) {
    let mut first = 0;
    while first < n {
        let mut count = 0;
        for i in first..n.min(first + 256) {
            let value = *values.add(i as usize);
            if value != 0 {
                *kept.add((first + count) as usize) = value;
                count += 1;
            }
        }
        *counts.add(first as usize / 256) = count;
        first += 256;
    }
}
