//! A sparse row for each warp: its lanes take neighbouring entries

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

    let (mut i, mut sum) = (first + lane, 0.0);
    while i < end {
        sum += *values.add(i) * *x.add(*columns.add(i) as usize);
        i += 32;
    }
    // After the loop: inside it, lanes may be missing in the last round.
    let sum = warp::warp_reduce_first(sum, |a, b| a + b);
    if lane == 0 {
        *y.add(row) = sum;
    }
}
