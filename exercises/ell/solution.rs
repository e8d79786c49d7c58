//! A table for neighbours: column by column

use cuda_std::prelude::*;

/// Places of a row.
const WIDTH: usize = 8;

/// The column of a place without an entry.
const NO_COLUMN: u32 = u32::MAX;

/// Where entry `k` of a row is in the table: after entry `k` of the row before.
#[inline(always)]
fn place(row: usize, k: usize, room: usize) -> usize {
    room * k + row
}

/// Writes each row, of at most 8 entries, to the table.
///
/// # Safety
/// The matrix has `n` rows in CSR; the table has `8 * room` places. There is a thread for each row.
#[kernel]
pub unsafe fn pack(
    starts: *const u32,
    columns: *const u32,
    values: *const f32,
    table_columns: *mut u32,
    table_values: *mut f32,
    n: usize,
    room: usize,
) {
    let row = thread::wide_index_1d();
    if row < n {
        let (first, end) = (*starts.add(row) as usize, *starts.add(row + 1) as usize);
        for k in 0..WIDTH {
            let (mut column, mut value) = (NO_COLUMN, 0.0);
            if first + k < end {
                column = *columns.add(first + k);
                value = *values.add(first + k);
            }
            *table_columns.add(place(row, k, room)) = column;
            *table_values.add(place(row, k, room)) = value;
        }
    }
}

/// `y` becomes the matrix times `x`.
///
/// # Safety
/// The table is what `pack` has filled; `x` has an element for each column, `y` room for `n`
/// elements. There is a thread for each row.
#[kernel]
pub unsafe fn multiply(
    table_columns: *const u32,
    table_values: *const f32,
    x: *const f32,
    y: *mut f32,
    n: usize,
    room: usize,
) {
    let row = thread::wide_index_1d();
    if row < n {
        let mut sum = 0.0;
        for k in 0..WIDTH {
            let column = *table_columns.add(place(row, k, room));
            if column != NO_COLUMN {
                sum += *table_values.add(place(row, k, room)) * *x.add(column as usize);
            }
        }
        *y.add(row) = sum;
    }
}
