//! Eight elements a thread, of one column

use cuda_std::prelude::*;
use cuda_std::unroll;

/// Elements of C that a thread computes: rows `y`, `y + 4`, ..., `y + 28` of the tile.
const EACH: usize = 8;

/// C = A B.
///
/// # Safety
/// `a` holds `m` rows of `k` elements, `b` `k` rows of `n`, and `c` has room for `m` rows of `n`.
/// Blocks have the shape that the kernel says; there is one for each tile of 32 x 32 elements of C.
#[kernel(block(32, 4))]
pub unsafe fn product(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    #[address_space(shared)]
    static A_TILE: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    #[address_space(shared)]
    static B_TILE: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    let (a_tile, b_tile) = (A_TILE.as_mut_ptr(), B_TILE.as_mut_ptr());
    let [m, n, k] = [m, n, k].map(|size| size as usize);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (row, column) =
        (32 * thread::block_idx_y() as usize, 32 * thread::block_idx_x() as usize + x);

    let mut sums = [0.0; EACH];
    for first in (0..k).step_by(32) {
        for e in 0..EACH {
            let line = y + 4 * e;
            let (i, j) = (first + x, first + line);
            (*a_tile)[line][x] =
                if row + line < m && i < k { *a.add((row + line) * k + i) } else { 0.0 };
            (*b_tile)[line][x] = if j < k && column < n { *b.add(j * n + column) } else { 0.0 };
        }
        thread::sync_threads();
        unroll::<32>(|i| {
            // Loaded once, used eight times. Written out, four neighbours of A's tile become one
            // load.
            let b_value = (*b_tile)[i][x];
            for e in 0..EACH {
                sums[e] = f32::mul_add((*a_tile)[y + 4 * e][i], b_value, sums[e]);
            }
        });
        thread::sync_threads();
    }
    for e in 0..EACH {
        let line = row + y + 4 * e;
        if line < m && column < n {
            *c.add(line * n + column) = sums[e];
        }
    }
}
