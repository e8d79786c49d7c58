//! One warp a row
//!
//! The sum of each row of a matrix. The obvious way is one thread for each row: no thread needs
//! another, and nothing has to be combined.
//!
//! But look at what a warp loads. The matrix lies row by row, so the 32 lanes, each at the same
//! column of its own row, are a whole row apart. One load touches 32 *sectors* (the pieces of 32
//! bytes in which memory is moved), and uses 4 bytes of each. Neighbouring lanes should read
//! neighbouring elements, and those are in one row.
//!
//! So let a warp share a row: its lanes take columns 0 to 31, then 32 to 63, and so on. At the end
//! each lane has a part of the sum, and `warp::warp_reduce_first(value, |a, b| a + b)` adds up the
//! 32 parts by shuffles. It gives lane 0 the sum; all 32 lanes must call it.
//!
//! # Task
//!
//! Give each row a warp. The launch has 8 warps in a block, and enough blocks for all rows (so far,
//! most of its threads have nothing to do).
//!
//! The goal: about one sector for each 8 elements. Rows of any length must still be right, also
//! those shorter than a warp.

use cuda_std::prelude::*;

/// Writes the sum of each row to `output`.
///
/// # Safety
/// `matrix` holds `rows` x `columns` elements, `output` one for each row. There is a warp for each
/// row.
#[kernel(launch_bounds(256))]
pub unsafe fn row_sums(matrix: *const f32, output: *mut f32, rows: u32, columns: u32) {
    // TODO: which row is the warp's, and which columns are the lane's?
    let row = thread::index_1d();
    if row < rows {
        let elements = matrix.add(row as usize * columns as usize);
        let mut sum = 0.0;
        for column in 0..columns {
            sum += *elements.add(column as usize);
        }
        *output.add(row as usize) = sum;
    }
}
