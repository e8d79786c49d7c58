//! What idle lanes contribute: nothing that is less than an element, or greater

use cuda_std::prelude::*;

/// Writes the least and the greatest element of each row.
///
/// # Safety
/// `starts` holds `rows + 1` places in `values`, each after the one before, and `least` and
/// `greatest` an element for each row. There is a warp for each row.
#[kernel(launch_bounds(256))]
pub unsafe fn row_extremes(
    values: *const f32,
    starts: *const u32,
    least: *mut f32,
    greatest: *mut f32,
    rows: u32,
) {
    let (row, lane) = (thread::index_1d() / 32, thread::lane_id());
    if row < rows {
        let row = row as usize;
        let (start, end) = (*starts.add(row), *starts.add(row + 1));
        // No element is above infinity: min(a, infinity) = a. No element is below minus infinity.
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        let mut i = start + lane;
        while i < end {
            let value = *values.add(i as usize);
            low = low.min(value);
            high = high.max(value);
            i += 32;
        }
        let low = warp::warp_reduce_first(low, f32::min);
        let high = warp::warp_reduce_first(high, f32::max);
        if lane == 0 {
            *least.add(row) = low;
            *greatest.add(row) = high;
        }
    }
}
