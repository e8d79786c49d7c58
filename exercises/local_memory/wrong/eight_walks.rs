// fails: loads.requests
// One sum after the other, in a register; but each of them walks down the column.

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
        for s in 0..KINDS {
            let mut sum = 0.0;
            for row in 0..rows as usize {
                let i = row * columns + column;
                if *kinds.add(i) as usize == s {
                    sum += *values.add(i);
                }
            }
            *output.add(s * columns + column) = sum;
        }
    }
}
