//! The extremes of rows, in one thread.

use cuda_std::prelude::*;

/// The least and the greatest element of each row.
///
/// # Safety
/// `starts` holds `rows + 1` places in `values`, each after the one before, and the other two an
/// element for each row; one thread.
#[kernel]
pub unsafe fn reference(
    values: *const f32,
    starts: *const u32,
    least: *mut f32,
    greatest: *mut f32,
    rows: u32,
) {
    for row in 0..rows as usize {
        let (start, end) = (*starts.add(row) as usize, *starts.add(row + 1) as usize);
        let (mut low, mut high) = (*values.add(start), *values.add(start));
        for i in start..end {
            low = low.min(*values.add(i));
            high = high.max(*values.add(i));
        }
        *least.add(row) = low;
        *greatest.add(row) = high;
    }
}
