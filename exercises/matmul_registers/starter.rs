//! Eight elements a thread
//!
//! With tiles in shared memory, the matrix product loads little from global memory. What remains
//! are the loads from shared memory: two numbers for each multiplication, one of A's tile and one
//! of B's. (The compiler can merge four neighbours in a row of A's tile into one load of 16 bytes.)
//!
//! The memory closest to a thread is its registers. If one thread computes eight elements of a
//! column of C, all of them need the same number of B's tile: it is loaded once and used eight
//! times. So a block has fewer threads, each does more, and there are fewer loads for as many
//! products.
//!
//! The number of threads is the kernel's choice here: the launch takes the block's shape from
//! `#[kernel(block(32, 32))]`. A block computes 32 x 32 elements of C, whatever its shape.
//!
//! # Task
//!
//! Make each thread compute several elements of C. Blocks of 32 x 4 threads with eight elements
//! each reach the goals. Three things to know about the compiler:
//!
//! - An array stays in registers only if each index is known when the kernel is compiled: give
//!   the sums' array a fixed size, and loop over it with constant bounds.
//! - It writes out short loops by itself, like the one over 32 products below, and merges loads
//!   only where it did so. A longer body stays a loop, unless you say otherwise:
//!   `cuda_std::unroll::<32>(|i| { ... })`.
//! - `f32::mul_add(a, b, sum)` is one instruction, an *fma*. `sum + a * b` is two.
//!
//! The goals: at most 0.6 shared loads for each product, both counted by warps, and at most 1.3
//! times the instructions of the model solution.

use cuda_std::prelude::*;

/// C = A B.
///
/// # Safety
/// `a` holds `m` rows of `k` elements, `b` `k` rows of `n`, and `c` has room for `m` rows of `n`.
/// Blocks have the shape that the kernel says; there is one for each tile of 32 x 32 elements of C.
#[kernel(block(32, 32))]
pub unsafe fn product(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    #[address_space(shared)]
    static A_TILE: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    #[address_space(shared)]
    static B_TILE: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    let (a_tile, b_tile) = (A_TILE.as_mut_ptr(), B_TILE.as_mut_ptr());
    let [m, n, k] = [m, n, k].map(|size| size as usize);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (row, column) =
        (32 * thread::block_idx_y() as usize + y, 32 * thread::block_idx_x() as usize + x);

    // TODO: fewer threads, which stage, sum up and write more than one element each.
    let mut sum = 0.0;
    for first in (0..k).step_by(32) {
        let (i, j) = (first + x, first + y);
        (*a_tile)[y][x] = if row < m && i < k { *a.add(row * k + i) } else { 0.0 };
        (*b_tile)[y][x] = if j < k && column < n { *b.add(j * n + column) } else { 0.0 };
        thread::sync_threads();
        for i in 0..32 {
            sum = f32::mul_add((*a_tile)[y][i], (*b_tile)[i][x], sum);
        }
        thread::sync_threads();
    }
    if row < m && column < n {
        *c.add(row * n + column) = sum;
    }
}
