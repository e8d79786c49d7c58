//! A product in tiles
//!
//! Each thread of this product computes one element of C = A B. It reads a row of A and a column of
//! B from global memory: two loads of 4 bytes for each multiplication. But the 16 x 16 threads of a
//! block use only 16 rows of A and 16 columns of B. Each number is wanted by 16 of its threads, and
//! most of them fetch it again.
//!
//! The rows and columns are too long for shared memory, but a piece of them fits. The block goes
//! along `k` in steps of 16. In each step it stages two tiles of 16 x 16 elements, one of A and one
//! of B; each thread fetches one element of each. Then every thread adds 16 products to its sum,
//! from shared memory alone, and the block goes on to the next pair of tiles.
//!
//! Elements beyond the matrices count as 0 in the tiles, and add nothing to a sum.
//!
//! # Task
//!
//! Multiply in tiles, for any `m`, `n` and `k`. A tile may be written only when all threads are
//! done with the one before.
//!
//! The goal: 8 times fewer sectors from global memory, m n k / 64. A step of a block multiplies 16
//! x 16 x 16 pairs; its two tiles have 32 rows of 64 bytes, two sectors each.

use cuda_std::prelude::*;

/// C = A B.
///
/// # Safety
/// `a` holds `m` rows of `k` elements, `b` `k` rows of `n`, and `c` has room for `m` rows of `n`. A
/// thread's x is a column of C, its y a row. Blocks are 16 x 16 threads; the grid covers C.
#[kernel(block(16, 16))]
pub unsafe fn product(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    let [m, n, k] = [m, n, k].map(|size| size as usize);
    let (column, row) = (thread::index_2d().x as usize, thread::index_2d().y as usize);
    // TODO: go along k in steps of 16, with two tiles in shared memory. This is one, of which
    // `(*a_tile)[y][x]` is an element:
    //     #[address_space(shared)]
    //     static A_TILE: SharedCell<[[f32; 16]; 16]> = SharedCell::uninit();
    //     let a_tile = A_TILE.as_mut_ptr();
    if row < m && column < n {
        let mut sum = 0.0;
        for i in 0..k {
            sum = f32::mul_add(*a.add(row * k + i), *b.add(i * n + column), sum);
        }
        *c.add(row * n + column) = sum;
    }
}
