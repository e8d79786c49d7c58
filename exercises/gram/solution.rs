//! A matrix times its transpose: the second tile is padded

use cuda_std::prelude::*;

/// C = A Aᵀ.
///
/// # Safety
/// `a` holds `rows` rows of `columns` elements, `c` has room for `rows` rows of `rows`. Blocks are
/// 32 x 32 threads; a thread's x is a column of C, its y a row.
#[kernel(block(32, 32))]
pub unsafe fn gram(a: *const f32, c: *mut f32, rows: u32, columns: u32) {
    #[address_space(shared)]
    static FIRST_TILE: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    // Rows are 33 words apart, so that a column lies in 32 banks. The first tile is only read by
    // rows.
    #[address_space(shared)]
    static SECOND_TILE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    let (first_tile, second_tile) = (FIRST_TILE.as_mut_ptr(), SECOND_TILE.as_mut_ptr());
    let (rows, columns) = (rows as usize, columns as usize);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    // The first rows of both tiles: those of C's rows, and those of C's columns.
    let (row, column) = (32 * thread::block_idx_y() as usize, 32 * thread::block_idx_x() as usize);

    let mut sum = 0.0;
    for first in (0..columns).step_by(32) {
        let k = first + x;
        (*first_tile)[y][x] =
            if row + y < rows && k < columns { *a.add((row + y) * columns + k) } else { 0.0 };
        (*second_tile)[y][x] =
            if column + y < rows && k < columns { *a.add((column + y) * columns + k) } else { 0.0 };
        thread::sync_threads();
        for i in 0..32 {
            let (one, other) = (
                shared::load(&raw const (*first_tile)[y][i]),
                shared::load(&raw const (*second_tile)[x][i]),
            );
            sum = f32::mul_add(one, other, sum);
        }
        thread::sync_threads();
    }
    if row + y < rows && column + x < rows {
        *c.add((row + y) * rows + column + x) = sum;
    }
}
