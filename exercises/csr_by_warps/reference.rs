//! A sparse matrix times a vector, in one thread.

use cuda_std::prelude::*;

/// # Safety
/// As for the kernel of the exercise; one thread.
#[kernel]
pub unsafe fn reference(
    starts: *const u32,
    columns: *const u32,
    values: *const f32,
    x: *const f32,
    y: *mut f32,
    n: usize,
) {
    for row in 0..n {
        let mut sum = 0.0;
        for i in *starts.add(row) as usize..*starts.add(row + 1) as usize {
            sum += *values.add(i) * *x.add(*columns.add(i) as usize);
        }
        *y.add(row) = sum;
    }
}
