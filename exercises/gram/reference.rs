//! A matrix times its transpose, a thread for each element.

use cuda_std::prelude::*;

/// C = A Aᵀ.
///
/// # Safety
/// `a` holds `rows` rows of `columns` elements, `c` has room for `rows` rows of `rows`.
#[kernel]
pub unsafe fn reference(a: *const f32, c: *mut f32, rows: u32, columns: u32) {
    let (rows, columns) = (rows as usize, columns as usize);
    for element in thread::grid_stride(rows * rows) {
        let (row, column) = (element.get() / rows, element.get() % rows);
        let mut sum = 0.0;
        for i in 0..columns {
            sum = f32::mul_add(*a.add(row * columns + i), *a.add(column * columns + i), sum);
        }
        *c.add(element.get()) = sum;
    }
}
