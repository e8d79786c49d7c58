// fails: loads.sectors_per_request
// No stage, no bank conflicts: but now the lanes of a warp read global memory 128 bytes apart.

use cuda_std::prelude::*;

/// # Safety
/// `input` holds `rows` rows of 32 elements, `sums` has `rows` elements. Blocks have 32 threads,
/// one for each row.
#[kernel(block(32))]
pub unsafe fn row_sums(input: *const u32, sums: *mut u32, rows: u32) {
    let row = thread::wide_index_1d();
    if row < rows as usize {
        let mut sum = 0_u32;
        for x in 0..32 {
            sum = sum.wrapping_add(*input.add(32 * row + x));
        }
        *sums.add(row) = sum;
    }
}
