//! A sparse row for each warp
//!
//! A sparse matrix in *CSR* (compressed sparse rows) stores its entries row by row: `columns` and
//! `values` have the column and the value of each, and row `r` has the entries from `starts[r]` up
//! to `starts[r + 1]`. Its product with a vector `x` is, for each row, the sum of its values times
//! the elements of `x` in their columns.
//!
//! This kernel is launched with a warp for each row, but lane 0 does all the work: each of its
//! loads fetches a sector of 8 entries and uses one of them.
//!
//! # Task
//!
//! Share the row among the lanes, so that a load of the warp fetches neighbours. Then each lane has
//! a sum; `warp::warp_reduce_first` adds the sums of all 32 lanes by shuffles, and lane 0 gets the
//! result. All 32 lanes must call it.
//!
//! The goal: about a sixth of the sectors.
//!
//! Rows have 41 to 90 entries. With rows of 8, most lanes of a warp would be idle: `host sparse`
//! compares the alternatives.

use cuda_std::prelude::*;

/// `y` becomes the matrix times `x`.
///
/// # Safety
/// The matrix has `n` rows in CSR, and its columns are those of `x`; `y` has room for `n` elements.
/// Blocks have 256 threads, and there is a warp for each row.
#[kernel(block(256))]
pub unsafe fn multiply(
    starts: *const u32,
    columns: *const u32,
    values: *const f32,
    x: *const f32,
    y: *mut f32,
    n: usize,
) {
    let (row, lane) = (thread::wide_index_1d() / 32, thread::lane_id() as usize);
    // The same for all lanes of a warp.
    if row >= n {
        return;
    }
    let (first, end) = (*starts.add(row) as usize, *starts.add(row + 1) as usize);

    // TODO: share the entries, and add up the lanes' sums.
    if lane == 0 {
        let mut sum = 0.0;
        for i in first..end {
            sum += *values.add(i) * *x.add(*columns.add(i) as usize);
        }
        *y.add(row) = sum;
    }
}
