//! An array that stays in registers: every index is a constant

use cuda_std::prelude::*;

/// Kinds of measurements.
const KINDS: usize = 8;

/// Adds up the values of each column by their kind: `output[s][c]` is the sum of those of kind `s`
/// in column `c`.
///
/// # Safety
/// `values` and `kinds` hold `rows` x `columns` elements, each kind below 8; `output` holds 8 x
/// `columns`. There is a thread for each column.
#[kernel(launch_bounds(256))]
pub unsafe fn sums_by_kind(
    values: *const f32,
    kinds: *const u32,
    output: *mut f32,
    rows: u32,
    columns: u32,
) {
    let (column, columns) = (thread::wide_index_1d(), columns as usize);
    if column < columns {
        let mut sums = [0.0; KINDS];
        for row in 0..rows as usize {
            let i = row * columns + column;
            let (kind, value) = (*kinds.add(i) as usize, *values.add(i));
            // Each sum takes the value or 0. That is eight additions in place of one, but without
            // memory.
            cuda_std::unroll::<KINDS>(|s| sums[s] += if s == kind { value } else { 0.0 });
        }
        cuda_std::unroll::<KINDS>(|s| *output.add(s * columns + column) = sums[s]);
    }
}
