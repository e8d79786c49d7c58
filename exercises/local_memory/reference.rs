//! The sums by sort, in one thread.

use cuda_std::prelude::*;

/// The sum of the values of each sort and column.
///
/// # Safety
/// `values` and `sorts` hold `rows` x `columns` elements, each sort below 8; `output` 8 x
/// `columns`; one thread.
#[kernel]
pub unsafe fn reference(
    values: *const f32,
    sorts: *const u32,
    output: *mut f32,
    rows: u32,
    columns: u32,
) {
    let (rows, columns) = (rows as usize, columns as usize);
    for i in 0..8 * columns {
        *output.add(i) = 0.0;
    }
    for row in 0..rows {
        for column in 0..columns {
            let i = row * columns + column;
            *output.add(*sorts.add(i) as usize * columns + column) += *values.add(i);
        }
    }
}
