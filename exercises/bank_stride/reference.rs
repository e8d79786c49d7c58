//! Sums of rows, in one thread.

use cuda_std::prelude::*;

/// The sum of each row.
///
/// # Safety
/// `input` holds `rows` rows of 32 elements, `sums` has `rows` elements; one thread.
#[kernel]
pub unsafe fn reference(input: *const u32, sums: *mut u32, rows: u32) {
    for row in 0..rows as usize {
        let mut sum = 0_u32;
        for x in 0..32 {
            sum = sum.wrapping_add(*input.add(32 * row + x));
        }
        *sums.add(row) = sum;
    }
}
