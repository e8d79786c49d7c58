//! The matrix product: what shared memory is for.
//!
//! `C = A B`, with `A` of `m` x `k`, `B` of `k` x `n` and `C` of `m` x `n`. Each element of `C`
//! takes a row of `A` and a column of `B`: 2 k operations on 2 k numbers. Taken from global memory
//! by each thread for itself ([`matmul_naive`]), that is a load of 4 bytes for each operation, and
//! every number is loaded by `m` or by `n` threads.
//!
//! A block of `T` x `T` threads shares: it loads a tile of `A` and a tile of `B` into shared
//! memory, each thread one element of each, and every element then serves `T` threads
//! ([`matmul_tiled16`], [`matmul_tiled32`]). Loads from global memory fall to one in `T`. What is
//! left are loads from shared memory. The compiler merges four neighbours in a row of A's tile into
//! one load of 16 bytes; a column of B's tile cannot be merged. [`matmul_registers`] cuts those,
//! too: a thread computes 8 x 8 elements, so that 16 numbers loaded serve 64 products. From there
//! [`register_tiles`](crate::register_tiles) climbs on.
//!
//! | kernel | loads from global memory | from shared memory, for each multiplication |
//! | --- | --- | --- |
//! | [`matmul_naive`] | 2 m n k | |
//! | [`matmul_tiled16`] | 2 m n k / 16 | 5/4 |
//! | [`matmul_tiled32`] | 2 m n k / 32 | 5/4 |
//! | [`matmul_registers`] | 2 m n k / 128 | 1/4 |
//!
//! Product and sum are one instruction, `fma`, with one rounding. nvcc turns `sum += a * b` into it
//! by itself. Rust computes what is written, so the kernels say `mul_add`.
//!
//! What to look for: requests of global loads, and GFLOP/s. The tiles have no bank conflicts: a
//! warp reads one element of `A` in all lanes, and consecutive ones of `B`. In 32 x 32 tiles, a
//! load of 16 bytes for all lanes takes 2 wavefronts ([`banks`](crate::banks)), and serves four
//! steps; with their four loads of `B` that makes (2 + 4) / 5 = 1.20 for each shared load.
//!
//! # Shapes
//!
//! Any `m`, `n`, `k`: elements beyond the matrices count as 0 in the tiles, and are not written. A
//! matrix is linear or pitched: the kernels cannot tell.
//!
//! # Where `unsafe` begins
//!
//! The compiler sees one thread. The kernels promise that a barrier separates the writes to a tile
//! from the reads of other threads, and that no other thread has the elements of `C` that
//! [`matmul_registers`] writes. The sanitizer checks exactly this.
//!
//! Sources: the lab sheet, table 3.1 (2484.06 ms without and 133.47 ms with shared memory); KAUST
//! CS 380.

use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{GpuFloat, address_space, shared::SharedCell, thread, unroll};

/// Side of the tiles of [`matmul_tiled16`], and of the lab sheet's blocks of [`matmul_naive`].
pub const TILE16: u32 = 16;

/// Side of the tiles of [`matmul_tiled32`].
pub const TILE32: u32 = 32;

/// Rows and columns of C that a block of [`matmul_registers`] computes.
pub const REGISTER_TILE: u32 = 128;

/// One thread an element, everything from global memory, in blocks of any shape.
#[kernel]
pub fn matmul_naive(a: Matrix<f32>, b: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    let at = thread::position();
    if let Some(c) = c.get_mut(at) {
        let mut sum = 0.0;
        // As many columns of A as rows of B. With this bound no step of the loop needs a check.
        for k in 0..a.cols().min(b.rows()) {
            if let (Some(a), Some(b)) = (a.get(at.row(), k), b.get(k, at.col())) {
                sum = a.mul_add(*b, sum);
            }
        }
        *c = sum;
    }
}

/// Tiles of 16 x 16.
#[kernel(block(16, 16))]
pub fn matmul_tiled16(a: Matrix<f32>, b: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static A: SharedCell<[[f32; 16]; 16]> = SharedCell::uninit();
    #[address_space(shared)]
    static B: SharedCell<[[f32; 16]; 16]> = SharedCell::uninit();
    let (a_tile, b_tile) = (A.as_mut_ptr(), B.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let at = thread::position();

    let mut sum = 0.0;
    for k in (0..a.cols()).step_by(16) {
        // SAFETY: these elements are this thread's until the barrier.
        unsafe {
            (*a_tile)[y as usize][x as usize] = a.get(at.row(), k + x).copied().unwrap_or(0.0);
            (*b_tile)[y as usize][x as usize] = b.get(k + y, at.col()).copied().unwrap_or(0.0);
        }
        thread::sync_threads();
        for i in 0..16 {
            // SAFETY: between the barriers all threads only read the tiles.
            sum = unsafe { (*a_tile)[y as usize][i].mul_add((*b_tile)[i][x as usize], sum) };
        }
        // No thread may overwrite a tile that another one still reads.
        thread::sync_threads();
    }
    if let Some(c) = c.get_mut(at) {
        *c = sum;
    }
}

/// Tiles of 32 x 32: half as many loads from global memory, and blocks of 1024 threads.
#[kernel(block(32, 32))]
pub fn matmul_tiled32(a: Matrix<f32>, b: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static A: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    #[address_space(shared)]
    static B: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    let (a_tile, b_tile) = (A.as_mut_ptr(), B.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let at = thread::position();

    let mut sum = 0.0;
    for k in (0..a.cols()).step_by(32) {
        // SAFETY: these elements are this thread's until the barrier.
        unsafe {
            (*a_tile)[y as usize][x as usize] = a.get(at.row(), k + x).copied().unwrap_or(0.0);
            (*b_tile)[y as usize][x as usize] = b.get(k + y, at.col()).copied().unwrap_or(0.0);
        }
        thread::sync_threads();
        for i in 0..32 {
            // SAFETY: between the barriers all threads only read the tiles.
            sum = unsafe { (*a_tile)[y as usize][i].mul_add((*b_tile)[i][x as usize], sum) };
        }
        // No thread may overwrite a tile that another one still reads.
        thread::sync_threads();
    }
    if let Some(c) = c.get_mut(at) {
        *c = sum;
    }
}

/// 8 x 8 elements a thread: rows y, y + 16, ... and columns x, x + 16, ... of the block's tile.
///
/// For each step in k a thread reads 8 numbers of A and 8 of B, and multiplies each with each.
#[kernel(block(16, 16), min_blocks(2))]
pub fn matmul_registers(a: Matrix<f32>, b: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static A: SharedCell<[[f32; 8]; 128]> = SharedCell::uninit();
    #[address_space(shared)]
    static B: SharedCell<[[f32; 128]; 8]> = SharedCell::uninit();
    let (a_tile, b_tile) = (A.as_mut_ptr(), B.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (row, col) = (128 * thread::block_row(), 128 * thread::block_idx_x());

    let mut sums = [[0.0; 8]; 8];
    for k in (0..a.cols()).step_by(8) {
        for i in (16 * y + x..1024).step_by(256) {
            let (r, kr, kc, c) = (i / 8, i % 8, i / 128, i % 128);
            // SAFETY: these elements are this thread's until the barrier.
            unsafe {
                (*a_tile)[r][kr] = a.get(row + r as u32, k + kr as u32).copied().unwrap_or(0.0);
                (*b_tile)[kc][c] = b.get(k + kc as u32, col + c as u32).copied().unwrap_or(0.0);
            }
        }
        thread::sync_threads();
        for step in 0..8 {
            // SAFETY: between the barriers all threads only read the tiles.
            let rows: [f32; 8] = unsafe { core::array::from_fn(|i| (*a_tile)[y + 16 * i][step]) };
            let cols: [f32; 8] = unsafe { core::array::from_fn(|j| (*b_tile)[step][x + 16 * j]) };
            for i in 0..8 {
                for j in 0..8 {
                    sums[i][j] = rows[i].mul_add(cols[j], sums[i][j]);
                }
            }
        }
        thread::sync_threads();
    }
    unroll::<8>(|i| {
        unroll::<8>(|j| {
            // SAFETY: no other thread has this element.
            let c = unsafe { c.element_mut(row + (y + 16 * i) as u32, col + (x + 16 * j) as u32) };
            if let Some(c) = c {
                *c = sums[i][j];
            }
        });
    });
}
