// fails: uninitialised read
// Leaves the tiles as they are where the matrices end, instead of storing 0.

use cuda_std::prelude::*;

/// # Safety
/// `a` holds `m` rows of `k` elements, `b` `k` rows of `n`, and `c` has room for `m` rows of `n`. A
/// thread's x is a column of C, its y a row. Blocks are 16 x 16 threads; the grid covers C.
#[kernel(block(16, 16))]
pub unsafe fn product(a: *const f32, b: *const f32, c: *mut f32, m: u32, n: u32, k: u32) {
    #[address_space(shared)]
    static A_TILE: SharedCell<[[f32; 16]; 16]> = SharedCell::uninit();
    #[address_space(shared)]
    static B_TILE: SharedCell<[[f32; 16]; 16]> = SharedCell::uninit();
    let (a_tile, b_tile) = (A_TILE.as_mut_ptr(), B_TILE.as_mut_ptr());
    let [m, n, k] = [m, n, k].map(|size| size as usize);
    let (column, row) = (thread::index_2d().x as usize, thread::index_2d().y as usize);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);

    let mut sum = 0.0;
    for first in (0..k).step_by(16) {
        // x counts columns in both tiles, so that both loads are side by side.
        let (i, j) = (first + x, first + y);
        if row < m && i < k {
            (*a_tile)[y][x] = *a.add(row * k + i);
        }
        if j < k && column < n {
            (*b_tile)[y][x] = *b.add(j * n + column);
        }
        thread::sync_threads();
        for i in 0..16 {
            sum = f32::mul_add((*a_tile)[y][i], (*b_tile)[i][x], sum);
        }
        // No thread may overwrite a tile that another one still reads.
        thread::sync_threads();
    }
    if row < m && column < n {
        *c.add(row * n + column) = sum;
    }
}
