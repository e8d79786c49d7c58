//! The matrix product: why shared memory was made.
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
//! too: a thread computes 8 x 8 elements, so that 16 numbers loaded serve 64 products. The last
//! step is `best_kernels::matmul`.
//!
//! | kernel | loads from global memory | from shared memory, for each multiplication |
//! | --- | --- | --- |
//! | [`matmul_naive`] | 2 m n k | |
//! | [`matmul_tiled16`] | 2 m n k / 16 | 5/4 |
//! | [`matmul_tiled32`] | 2 m n k / 32 | 5/4 |
//! | [`matmul_registers`] | 2 m n k / 128 / 4, of 16 bytes | 1/16 |
//!
//! Product and sum are one instruction, `fma`, with one rounding. nvcc makes it of `sum += a * b`
//! without being asked. Rust computes what is written, so the kernels say `mul_add`.
//!
//! What to look for: requests of global loads, and GFLOP/s. The tiles have no bank conflicts: a
//! warp reads one element of `A` in all lanes, and consecutive ones of `B`. In 32 x 32 tiles, a
//! load of 16 bytes for all lanes takes 2 wavefronts ([`banks`](crate::banks)), and serves four
//! steps; with their four loads of `B` that makes (2 + 4) / 5 = 1.20 for each shared load. In
//! [`matmul_registers`] loads of `A` take 2 and loads of `B` 4: 3.00.
//!
//! # Shapes
//!
//! Any `m`, `n`, `k`: what lies beyond the matrices counts as 0 in the tiles, and is not written. A
//! matrix is linear or pitched: the kernels cannot tell.
//!
//! # Where `unsafe` begins
//!
//! The compiler sees one thread. That a barrier stands between the writes to a tile and the reads
//! of other threads, and that no other thread has the elements of `C` that [`matmul_registers`]
//! writes, the kernels promise. The sanitizer checks exactly this.
//!
//! Sources: the lab sheet, table 3.1 (2484.06 ms without and 133.47 ms with shared memory); KAUST
//! CS 380.

use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{GpuFloat, address_space, shared::SharedCell, thread, unroll, vector::f32x4};

/// Side of the tiles of [`matmul_tiled16`], and of the lab sheet's blocks of [`matmul_naive`].
pub const TILE16: u32 = 16;

/// Side of the tiles of [`matmul_tiled32`].
pub const TILE32: u32 = 32;

/// Rows and columns of C that a block of [`matmul_registers`] computes.
pub const REGISTER_TILE: u32 = 128;

/// Threads of such a block.
pub const REGISTER_THREADS: u32 = 256;

/// Bytes of shared memory of such a block.
pub const REGISTER_SHARED: u64 = 2 * 8 * (33 + 32) * 16;

/// One thread an element, everything from global memory, in blocks of any shape.
#[kernel]
pub fn matmul_naive(a: Matrix<f32>, b: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    let at = thread::position();
    if let (Some(row), Some(c)) = (a.row(at.row()), c.get_mut(at)) {
        let pairs = row.iter().zip(b.column(at.col()));
        *c = pairs.fold(0.0, |sum, (a, b)| a.mul_add(*b, sum));
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
        // Nobody may overwrite a tile that another thread still reads.
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
        // Nobody may overwrite a tile that another thread still reads.
        thread::sync_threads();
    }
    if let Some(c) = c.get_mut(at) {
        *c = sum;
    }
}

/// Register tiles: a block computes 128 x 128 elements, and each of its 256 threads 8 x 8 of them,
/// in four squares of 4 x 4.
///
/// For each step in k a thread reads 8 numbers of A and 8 of B from shared memory, 16 bytes at a
/// time, and multiplies each with each. A is transposed on its way into shared memory, so that the
/// 8 numbers are neighbours there. There are two of both tiles: while one is multiplied, the next
/// is on its way to registers, and then to the other. Two blocks fit a multiprocessor if a thread
/// has at most 128 registers, which the launch bounds ask for.
///
/// # Safety
/// Blocks have [`REGISTER_THREADS`] threads in x, and there is one for each [`REGISTER_TILE`] x
/// [`REGISTER_TILE`] elements of C.
#[kernel(launch_bounds(256, 2))]
pub unsafe fn matmul_registers(a: Matrix<f32>, b: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    // Rows of A's tile are 4 floats longer: its columns are stored to different banks.
    #[address_space(shared)]
    static A: SharedCell<[[[f32x4; 33]; 8]; 2]> = SharedCell::uninit();
    #[address_space(shared)]
    static B: SharedCell<[[[f32x4; 32]; 8]; 2]> = SharedCell::uninit();
    let (a_tiles, b_tiles) = (A.as_mut_ptr(), B.as_mut_ptr());
    let t = thread::thread_idx_x() as usize;
    let (row, col) = (128 * thread::block_row(), 128 * thread::block_idx_x());
    // What the thread loads: four numbers of a row of A, and four of a row of B.
    let (a_row, a_k, b_k, b_col) = (t / 2, t % 2 * 4, t / 32, t % 32);
    let mut from_a = a.quad(row + a_row as u32, a_k as u32);
    let mut from_b = b.quad(b_k as u32, col + 4 * b_col as u32);
    // What it computes: rows from 4 y on and from 4 y + 64, columns from 4 x on and from 4 x + 64.
    let (x, y) = (t % 16, t / 16);
    let mut sums = [[0.0; 8]; 8];

    let (mut k, mut stage) = (0, 0);
    loop {
        // These elements are this thread's until the barrier; others read the other stage.
        for i in 0..4 {
            let line = (&raw mut (*a_tiles)[stage][a_k + i]).cast::<f32>();
            *line.add(a_row) = from_a.to_array()[i];
        }
        (*b_tiles)[stage][b_k][b_col] = from_b;
        thread::sync_threads();
        if k >= a.cols() {
            break;
        }
        k += 8;
        from_a = a.quad(row + a_row as u32, k + a_k as u32);
        from_b = b.quad(k + b_k as u32, col + 4 * b_col as u32);
        unroll::<8>(|step| {
            // Until the next barrier all threads only read this stage.
            let (a, b) = (&(*a_tiles)[stage][step], &(*b_tiles)[stage][step]);
            let rows = [a[y].to_array(), a[y + 16].to_array()];
            let cols = [b[x].to_array(), b[x + 16].to_array()];
            unroll::<8>(|i| {
                unroll::<8>(|j| {
                    sums[i][j] = rows[i / 4][i % 4].mul_add(cols[j / 4][j % 4], sums[i][j]);
                });
            });
        });
        stage = 1 - stage;
    }
    unroll::<8>(|i| {
        let row = row + (4 * y + 64 * (i / 4) + i % 4) as u32;
        let [left, right] = [0, 4].map(|j| f32x4::from_array([0, 1, 2, 3].map(|k| sums[i][j + k])));
        c.set_quad(row, col + 4 * x as u32, left);
        c.set_quad(row, col + 4 * x as u32 + 64, right);
    });
}
