//! A table for neighbours
//!
//! A sparse matrix is stored row by row (CSR): row `r` has the entries from `starts[r]` up to
//! `starts[r + 1]`, each with its column and its value. If each row has a thread, the lanes of a
//! warp read from 32 rows, and so from 32 places in memory.
//!
//! *ELL* makes all rows equally long: `pack` writes the entries to a table with 8 places for each
//! row, and `NO_COLUMN` to the unused places. `multiply` then multiplies the table with the
//! vector `x`. A solver packs once and multiplies a thousand times.
//!
//! As all rows are equally long, we can choose where entry `k` of a row is stored: `place` decides
//! that for both kernels. At first it puts the 8 places of a row side by side, and a warp's load of
//! entry `k` still reads 32 sectors.
//!
//! # Task
//!
//! Choose the places so that a warp loads neighbours. `room` is the number of rows, rounded up to a
//! multiple of 32; the table has `8 * room` places.
//!
//! The goal: 4 sectors for each load of the table.

use cuda_std::prelude::*;

/// Places of a row.
const WIDTH: usize = 8;

/// The column of a place without an entry.
const NO_COLUMN: u32 = u32::MAX;

/// Where entry `k` of a row is in the table.
#[inline(always)]
fn place(row: usize, k: usize, _room: usize) -> usize {
    // TODO: where must the entries `k` of neighbouring rows be?
    WIDTH * row + k
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
