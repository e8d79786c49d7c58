// fails: local.sectors
// Writes out the loop over the rows, but the index of the array is still read from memory.

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
        let mut add = |row: usize| {
            let i = row * columns + column;
            let (kind, value) = (*kinds.add(i) as usize, *values.add(i));
            sums[kind] += value;
        };
        let (mut row, rows) = (0, rows as usize);
        while row + 4 <= rows {
            cuda_std::unroll::<4>(|next| add(row + next));
            row += 4;
        }
        while row < rows {
            add(row);
            row += 1;
        }
        for s in 0..KINDS {
            *output.add(s * columns + column) = sums[s];
        }
    }
}
