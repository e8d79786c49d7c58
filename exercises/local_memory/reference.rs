//! The sums by kind, in one thread.

use cuda_std::prelude::*;

/// The sum of the values of each kind and column.
///
/// # Safety
/// `values` and `kinds` hold `rows` x `columns` elements, each kind below 8; `output` 8 x
/// `columns`; one thread.
#[kernel]
pub unsafe fn reference(
    values: *const f32,
    kinds: *const u32,
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
            *output.add(*kinds.add(i) as usize * columns + column) += *values.add(i);
        }
    }
}
