//! A product of any shape
//!
//! The matrix product C = A B takes an `m` x `k` matrix A and a `k` x `n` matrix B. Element (row,
//! column) of C is the sum of `A[row][i] * B[i][column]` over the `k` values of `i`, and C is `m` x
//! `n`. Matrices lie in memory row by row: element (row, column) is number `row * width + column`,
//! where the width is the matrix's own number of columns.
//!
//! Each thread computes one element. Blocks are 16 x 16 threads, and the grid has as many blocks as
//! it takes to cover C. Where `m` or `n` is not a multiple of 16, the last blocks reach beyond the
//! matrix.
//!
//! # Task
//!
//! This kernel was written for square matrices whose side is a multiple of 16. Make it right for
//! any `m`, `n` and `k`.

use cuda_std::prelude::*;

/// C = A B.
///
/// # Safety
/// `a` holds `m` rows of `k` elements, `b` `k` rows of `n`, and `c` has room for `m` rows of `n`. A
/// thread's x is a column of C, its y a row; the grid covers C.
#[kernel(launch_bounds((16, 16)))]
pub unsafe fn product(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    // TODO: all three sizes matter.
    let (_, side, _) = (m, n as usize, k);
    let (column, row) = (thread::index_2d().x as usize, thread::index_2d().y as usize);
    let mut sum = 0.0;
    for i in 0..side {
        sum = f32::mul_add(*a.add(row * side + i), *b.add(i * side + column), sum);
    }
    *c.add(row * side + column) = sum;
}
