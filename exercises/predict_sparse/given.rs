//! What does a sparse format cost?
//!
//! A sparse matrix stores only some entries. Their order decides which of them a warp reads at
//! once. These kernels add up the values of each of 64 rows; columns and the vector are left out.
//!
//! Every row has 8 entries. In two kernels the rows follow each other, so that row `r` begins at
//! entry `8 r`:
//!
//! - `by_threads`: a thread for each row.
//! - `by_warps`: a warp for each row; 8 of its lanes load an entry each.
//!
//! In the others, entry `k` of all rows is stored side by side, followed by entry `k + 1` of all
//! rows, and each row has a thread:
//!
//! - `ell`: the same rows, in 8 columns of 64 entries.
//! - `ell_long`: one row has 32 entries, so all rows are padded to 32.
//! - `sliced_long`: the same in slices of 32 rows. Only the slice with the long row has 32 columns;
//!   the other has 8.
//!
//! A sector is 32 bytes, or 8 floats. Each array starts at the start of a sector.
//!
//! # Task
//!
//! Answer the questions. All kernels but `by_warps` run with one block of 64 threads.

use cuda_std::prelude::*;

/// Rows one after the other, a thread for each.
///
/// # Safety
/// `values` holds 512 numbers, `sums` has room for 64. One block of 64 threads.
#[kernel]
pub unsafe fn by_threads(values: *const f32, sums: *mut f32) {
    let row = thread::wide_index_1d();
    let mut sum = 0.0;
    for k in 0..8 {
        sum += *values.add(8 * row + k);
    }
    *sums.add(row) = sum;
}

/// Rows one after the other, a warp for each.
///
/// # Safety
/// `values` holds 512 numbers, `sums` has room for 64. 64 warps.
#[kernel]
pub unsafe fn by_warps(values: *const f32, sums: *mut f32) {
    let (row, lane) = (thread::wide_index_1d() / 32, thread::lane_id() as usize);
    let mut sum = 0.0;
    if lane < 8 {
        sum = *values.add(8 * row + lane);
    }
    let sum = warp::warp_reduce_first(sum, |a, b| a + b);
    if lane == 0 {
        *sums.add(row) = sum;
    }
}

/// Entry `k` of 64 rows, then entry `k + 1`.
#[inline(always)]
unsafe fn column_by_column(values: *const f32, sums: *mut f32, columns: usize) {
    let row = thread::wide_index_1d();
    let mut sum = 0.0;
    for k in 0..columns {
        sum += *values.add(64 * k + row);
    }
    *sums.add(row) = sum;
}

/// Rows of 8 entries.
///
/// # Safety
/// `values` holds 512 numbers, `sums` has room for 64. One block of 64 threads.
#[kernel]
pub unsafe fn ell(values: *const f32, sums: *mut f32) {
    column_by_column(values, sums, 8);
}

/// Rows that are padded to 32 entries.
///
/// # Safety
/// `values` holds 2048 numbers, `sums` has room for 64. One block of 64 threads.
#[kernel]
pub unsafe fn ell_long(values: *const f32, sums: *mut f32) {
    column_by_column(values, sums, 32);
}

/// Slices of 32 rows: the first is padded to 32 entries, the second has 8.
///
/// # Safety
/// `values` holds 1280 numbers, `sums` has room for 64. One block of 64 threads.
#[kernel]
pub unsafe fn sliced_long(values: *const f32, sums: *mut f32) {
    let row = thread::wide_index_1d();
    let (start, columns) = if row < 32 { (0, 32) } else { (32 * 32, 8) };
    let mut sum = 0.0;
    for k in 0..columns {
        sum += *values.add(start + 32 * k + row % 32);
    }
    *sums.add(row) = sum;
}
