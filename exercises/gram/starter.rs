//! A matrix times its transpose
//!
//! Element (row, column) of C = A Aᵀ is the sum of `A[row][i] * A[column][i]`: the product of two
//! *rows* of A. So a block stages two tiles of A, one with the rows of its elements and one with
//! those of its columns, and both are read from global memory along the rows.
//!
//! The products are where it differs from C = A B. A warp's 32 threads have the same row and 32
//! columns. In step `i` all of them want the same word of the first tile, which costs one
//! wavefront. Of the second, thread x wants element `i` of row `x`: a column of the tile, all of it
//! in one bank.
//!
//! # Task
//!
//! Remove the bank conflicts, those of loads and those of stores. The matrix has any number of rows
//! and columns; what lies beyond counts as 0.
//!
//! `shared::load(p)` is `*p`, but always as one separate load. By itself the compiler merges loads
//! of neighbours, and the conflicts are harder to see.

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
    #[address_space(shared)]
    static SECOND_TILE: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
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
            // TODO: the second of these loads takes 32 wavefronts.
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
