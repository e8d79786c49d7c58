//! What idle lanes contribute
//!
//! The least and the greatest element of each row, where the rows differ in length: row `r` is
//! `values[starts[r]]` and what follows, up to the element before `values[starts[r + 1]]`. A warp
//! shares each row. Most rows do not end on a multiple of 32, so in the last round some lanes have
//! no element, and in short rows some never have one.
//!
//! These lanes take part, too, since the shuffles need all 32. So what they hold must not change
//! the result: it must be the operation's *identity*. In a sum that is 0, because a + 0 = a. What
//! is it for a minimum: which number x makes min(a, x) = a for every a?
//!
//! # Task
//!
//! The kernel finds wrong extremes in some rows. Say which rows these are before you run it, then
//! make it right.

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
        // TODO: what does a lane without an element hold?
        let (mut low, mut high) = (0.0_f32, 0.0_f32);
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
