//! The product of a matrix with its own transpose, `C = A A^T`, where bank conflicts dominate.
//!
//! An element of `C` is the product of two *rows* of `A`. So both tiles of a block are loaded along
//! the rows of `A`; but where the matrix product reads its second tile by rows, this one reads it
//! by columns: lane `x` wants element `k` of row `x`. In a tile with rows of `T` words the lanes'
//! words are `T` apart:
//!
//! | kernel | tile | conflicts of 16 banks, for half warps | of 32 banks |
//! | --- | --- | --- | --- |
//! | [`gram_tiled16`] | `[16][16]` | 16 ways: all lanes in one bank | 8 ways: 16 words in 2 banks |
//! | [`gram_padded16`] | `[16][17]` | none | none |
//! | [`gram_tiled32`] | `[32][32]` | | 32 ways: all lanes in one bank |
//! | [`gram_padded32`] | `[32][33]` | | none |
//!
//! The lab sheet's GPU has 16 banks. One unused column removes the conflicts. (What remains are the
//! stores of the 17-word rows: a warp writes two of them, which overlap in one bank.)
//! [`gram_mirrored`] also uses that `C` is symmetric: only the blocks on and below the diagonal
//! work, and write each tile twice, so that half of the arithmetic is saved.
//! [`gram_registers`](crate::gram_registers) does that with tiles in registers; the last step is
//! `best_kernels::gram`.
//!
//! What to look for: wavefronts of each shared load
//! (`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum` over
//! `smsp__sass_inst_executed_op_shared_ld.sum`). Half of the loads are of the first tile and have
//! no conflicts, so `[16][16]` shows (1 + 8) / 2 = 4.5, and `[32][32]` (1 + 32) / 2 = 16.5.
//!
//! The tiles are read by `shared::load`, which is one load for one word. Without it the compiler
//! reads four neighbours of a row at once where rows have 16 or 32 words, and the conflicts are not
//! those of the lecture.
//!
//! # Shapes
//!
//! `A` has any shape, and `C` as many rows and columns as `A` has rows. Elements beyond a matrix
//! count as 0 in the tiles, and are not written. A matrix is linear or pitched: the kernels cannot
//! tell.
//!
//! # Where `unsafe` begins
//!
//! The compiler sees one thread. The kernels promise that a barrier separates the writes to a tile
//! from the reads of other threads, and that no other block writes what [`gram_mirrored`] writes
//! above the diagonal. The sanitizer checks exactly this.
//!
//! Source: the lab sheet, table 3.2 (551.73 ms and 120.59 ms).

use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{GpuFloat, address_space, shared, shared::SharedCell, thread};

/// Tiles of 16 x 16: reading a column of the second tile is an 8-way bank conflict.
#[kernel(block(16, 16))]
pub fn gram_tiled16(a: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static ROWS: SharedCell<[[f32; 16]; 16]> = SharedCell::uninit();
    #[address_space(shared)]
    static COLS: SharedCell<[[f32; 16]; 16]> = SharedCell::uninit();
    let (rows, cols) = (ROWS.as_mut_ptr(), COLS.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    // The second tile has the rows of A that are the tile's columns of C.
    let (at, other) = (thread::position(), 16 * thread::block_idx_x() + y as u32);

    let mut sum = 0.0;
    for k in (0..a.cols()).step_by(16) {
        // SAFETY: these elements are this thread's until the barrier.
        unsafe {
            (*rows)[y][x] = a.get(at.row(), k + x as u32).copied().unwrap_or(0.0);
            (*cols)[y][x] = a.get(other, k + x as u32).copied().unwrap_or(0.0);
        }
        thread::sync_threads();
        for i in 0..16 {
            // SAFETY: between the barriers all threads only read the tiles.
            let (row, col) = unsafe { (&raw const (*rows)[y][i], &raw const (*cols)[x][i]) };
            sum = unsafe { shared::load(row).mul_add(shared::load(col), sum) };
        }
        // No thread may overwrite a tile that another one still reads.
        thread::sync_threads();
    }
    if let Some(c) = c.get_mut(at) {
        *c = sum;
    }
}

/// Tiles of 16 x 17: no conflicts.
#[kernel(block(16, 16))]
pub fn gram_padded16(a: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static ROWS: SharedCell<[[f32; 17]; 16]> = SharedCell::uninit();
    #[address_space(shared)]
    static COLS: SharedCell<[[f32; 17]; 16]> = SharedCell::uninit();
    let (rows, cols) = (ROWS.as_mut_ptr(), COLS.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    // The second tile has the rows of A that are the tile's columns of C.
    let (at, other) = (thread::position(), 16 * thread::block_idx_x() + y as u32);

    let mut sum = 0.0;
    for k in (0..a.cols()).step_by(16) {
        // SAFETY: these elements are this thread's until the barrier.
        unsafe {
            (*rows)[y][x] = a.get(at.row(), k + x as u32).copied().unwrap_or(0.0);
            (*cols)[y][x] = a.get(other, k + x as u32).copied().unwrap_or(0.0);
        }
        thread::sync_threads();
        for i in 0..16 {
            // SAFETY: between the barriers all threads only read the tiles.
            let (row, col) = unsafe { (&raw const (*rows)[y][i], &raw const (*cols)[x][i]) };
            sum = unsafe { shared::load(row).mul_add(shared::load(col), sum) };
        }
        // No thread may overwrite a tile that another one still reads.
        thread::sync_threads();
    }
    if let Some(c) = c.get_mut(at) {
        *c = sum;
    }
}

/// Tiles of 32 x 32: all lanes in one bank.
#[kernel(block(32, 32))]
pub fn gram_tiled32(a: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static ROWS: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    #[address_space(shared)]
    static COLS: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    let (rows, cols) = (ROWS.as_mut_ptr(), COLS.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    // The second tile has the rows of A that are the tile's columns of C.
    let (at, other) = (thread::position(), 32 * thread::block_idx_x() + y as u32);

    let mut sum = 0.0;
    for k in (0..a.cols()).step_by(32) {
        // SAFETY: these elements are this thread's until the barrier.
        unsafe {
            (*rows)[y][x] = a.get(at.row(), k + x as u32).copied().unwrap_or(0.0);
            (*cols)[y][x] = a.get(other, k + x as u32).copied().unwrap_or(0.0);
        }
        thread::sync_threads();
        for i in 0..32 {
            // SAFETY: between the barriers all threads only read the tiles.
            let (row, col) = unsafe { (&raw const (*rows)[y][i], &raw const (*cols)[x][i]) };
            sum = unsafe { shared::load(row).mul_add(shared::load(col), sum) };
        }
        // No thread may overwrite a tile that another one still reads.
        thread::sync_threads();
    }
    if let Some(c) = c.get_mut(at) {
        *c = sum;
    }
}

/// Tiles of 32 x 33: no conflicts.
#[kernel(block(32, 32))]
pub fn gram_padded32(a: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static ROWS: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    #[address_space(shared)]
    static COLS: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    let (rows, cols) = (ROWS.as_mut_ptr(), COLS.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    // The second tile has the rows of A that are the tile's columns of C.
    let (at, other) = (thread::position(), 32 * thread::block_idx_x() + y as u32);

    let mut sum = 0.0;
    for k in (0..a.cols()).step_by(32) {
        // SAFETY: these elements are this thread's until the barrier.
        unsafe {
            (*rows)[y][x] = a.get(at.row(), k + x as u32).copied().unwrap_or(0.0);
            (*cols)[y][x] = a.get(other, k + x as u32).copied().unwrap_or(0.0);
        }
        thread::sync_threads();
        for i in 0..32 {
            // SAFETY: between the barriers all threads only read the tiles.
            let (row, col) = unsafe { (&raw const (*rows)[y][i], &raw const (*cols)[x][i]) };
            sum = unsafe { shared::load(row).mul_add(shared::load(col), sum) };
        }
        // No thread may overwrite a tile that another one still reads.
        thread::sync_threads();
    }
    if let Some(c) = c.get_mut(at) {
        *c = sum;
    }
}

/// The padded tile again, only on and below the diagonal. What is below is also written above,
/// transposed in shared memory so that these stores are coalesced, too.
#[kernel(block(32, 32))]
pub fn gram_mirrored(a: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static ROWS: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    #[address_space(shared)]
    static COLS: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    let (rows, cols) = (ROWS.as_mut_ptr(), COLS.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (tile_row, tile_col) = (thread::block_row(), thread::block_idx_x());
    if tile_col > tile_row {
        return;
    }
    let (at, other) = (thread::position(), 32 * tile_col + y as u32);

    let mut sum = 0.0;
    for k in (0..a.cols()).step_by(32) {
        // SAFETY: these elements are this thread's until the barrier.
        unsafe {
            (*rows)[y][x] = a.get(at.row(), k + x as u32).copied().unwrap_or(0.0);
            (*cols)[y][x] = a.get(other, k + x as u32).copied().unwrap_or(0.0);
        }
        thread::sync_threads();
        for i in 0..32 {
            // SAFETY: between the barriers all threads only read the tiles.
            let (row, col) = unsafe { (&raw const (*rows)[y][i], &raw const (*cols)[x][i]) };
            sum = unsafe { shared::load(row).mul_add(shared::load(col), sum) };
        }
        // No thread may overwrite a tile that another one still reads.
        thread::sync_threads();
    }
    if let Some(c) = c.get_mut(at) {
        *c = sum;
    }
    if tile_row != tile_col {
        // SAFETY: this element is this thread's until the barrier; then all threads only read.
        unsafe { (*rows)[y][x] = sum };
        thread::sync_threads();
        // SAFETY: blocks above the diagonal write nothing, so only this one writes this tile.
        if let Some(c) = unsafe { c.element_mut(other, 32 * tile_row + x as u32) } {
            *c = unsafe { (*rows)[x][y] };
        }
    }
}
