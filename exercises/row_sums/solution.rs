//! One warp a row

use cuda_std::prelude::*;

/// Writes the sum of each row to `output`.
///
/// # Safety
/// `matrix` holds `rows` x `columns` elements, `output` one for each row. There is a warp for each
/// row.
#[kernel(launch_bounds(256))]
pub unsafe fn row_sums(matrix: *const f32, output: *mut f32, rows: u32, columns: u32) {
    let (row, lane) = (thread::index_1d() / 32, thread::lane_id());
    // The same for all lanes of a warp, so either all come to the shuffles or none.
    if row < rows {
        let elements = matrix.add(row as usize * columns as usize);
        let mut sum = 0.0;
        let mut column = lane;
        while column < columns {
            sum += *elements.add(column as usize);
            column += 32;
        }
        // After the loop: inside it, lanes may be missing in the last round.
        let sum = warp::warp_reduce_first(sum, |a, b| a + b);
        if lane == 0 {
            *output.add(row as usize) = sum;
        }
    }
}
