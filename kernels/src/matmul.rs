//! The matrix product: why shared memory was made.
//!
//! `C = A B`, with `A` of `m` x `k`, `B` of `k` x `n` and `C` of `m` x `n`. Each element of `C` takes a row of `A` and a column of
//! `B`: 2 k operations on 2 k numbers. Taken from global memory by each thread for itself ([`matmul_naive`]), that is a load of 4
//! bytes for each operation, and every number is loaded by `m` or by `n` threads.
//!
//! A block of `T` x `T` threads shares: it loads a tile of `A` and a tile of `B` into shared memory, each thread one element of each,
//! and every element then serves `T` threads ([`matmul_tiled16`], [`matmul_tiled32`]). Loads from global memory fall to one in `T`.
//! What is left are loads from shared memory. The compiler merges four neighbours in a row of A's tile into one load of 16 bytes; a
//! column of B's tile cannot be merged. [`matmul_registers`] cuts those, too: a thread computes 8 x 8 elements, so that 16 numbers
//! loaded serve 64 products. What is left to gain is in `kernels/best/src/matmul.rs`.
//!
//! | kernel | loads from global memory | from shared memory, for each multiplication |
//! | --- | --- | --- |
//! | [`matmul_naive`] | 2 m n k | |
//! | [`matmul_tiled16`] | 2 m n k / 16 | 5/4 |
//! | [`matmul_tiled32`] | 2 m n k / 32 | 5/4 |
//! | [`matmul_registers`] | 2 m n k / 128 / 4, of 16 bytes | 1/16 |
//!
//! Product and sum are one instruction, `fma`, with one rounding. nvcc makes it of `sum += a * b` without being asked. Rust
//! computes what is written, so the kernels say `mul_add`.
//!
//! What to look for: requests of global loads, and GFLOP/s. The tiles have no bank conflicts: a warp reads one element of `A` in all
//! lanes, and consecutive ones of `B`. In 32 x 32 tiles, a load of 16 bytes for all lanes takes 2 wavefronts ([`banks`](crate::banks)), and
//! serves four steps; with their four loads of `B` that makes (2 + 4) / 5 = 1.20 for each shared load. In [`matmul_registers`] loads of
//! `A` take 2 and loads of `B` 4: 3.00.
//!
//! # Shapes
//!
//! Any `m`, `n`, `k`: what lies beyond the matrices counts as 0 in the tiles, and is not written. Rows are `a_pitch`, `b_pitch` and
//! `c_pitch` elements apart.
//!
//! Sources: the lab sheet, table 3.1 (2484.06 ms without and 133.47 ms with shared memory); KAUST CS 380.

use bytemuck::{Pod, Zeroable};
#[gpu_only]
use cuda_std::{GpuFloat, address_space, shared::SharedCell, thread, unroll, vector::f32x4};
use cuda_std::{gpu_only, kernel};

#[gpu_only]
use crate::matrix::{Matrix, at};

/// The shapes of a product, and how far apart the rows of its matrices are, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Shape {
    /// Rows of A and C.
    pub m: u32,
    /// Columns of B and C.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
    /// From one row of A to the next.
    pub a_pitch: u32,
    /// From one row of B to the next.
    pub b_pitch: u32,
    /// From one row of C to the next.
    pub c_pitch: u32,
}

/// Side of the block of [`matmul_naive`], and of the tiles of [`matmul_tiled16`].
pub const TILE16: u32 = 16;

/// Side of the tiles of [`matmul_tiled32`].
pub const TILE32: u32 = 32;

/// One thread an element, everything from global memory.
///
/// # Safety
/// The matrices have the shapes that `shape` says, and nothing else uses `c` during the launch. A thread's x is a column, its y a
/// row.
#[kernel]
pub unsafe fn matmul_naive(a: &[f32], b: &[f32], c: *mut f32, shape: Shape) {
    let column = thread::index_1d();
    let row = thread::index_2d().y;
    if row < shape.m && column < shape.n {
        let row_of_a = a.as_ptr().add(at(row, 0, shape.a_pitch));
        let mut element_of_b = b.as_ptr().add(column as usize);
        let mut sum = 0.0;
        for i in 0..shape.k {
            sum = GpuFloat::mul_add(*row_of_a.add(i as usize), *element_of_b, sum);
            element_of_b = element_of_b.add(shape.b_pitch as usize);
        }
        *c.add(at(row, column, shape.c_pitch)) = sum;
    }
}

/// Tiles of 16 x 16.
///
/// # Safety
/// As for [`matmul_naive`], in blocks of 16 x 16 threads.
#[kernel(launch_bounds((16, 16)))]
pub unsafe fn matmul_tiled16(a: &[f32], b: &[f32], c: *mut f32, shape: Shape) {
    #[address_space(shared)]
    static A: SharedCell<[[f32; 16]; 16]> = SharedCell::uninit();
    #[address_space(shared)]
    static B: SharedCell<[[f32; 16]; 16]> = SharedCell::uninit();
    tiled(a, b, c, shape, A.as_mut_ptr(), B.as_mut_ptr());
}

/// Tiles of 32 x 32: half as many loads from global memory, and blocks of 1024 threads.
///
/// # Safety
/// As for [`matmul_naive`], in blocks of 32 x 32 threads.
#[kernel(launch_bounds((32, 32)))]
pub unsafe fn matmul_tiled32(a: &[f32], b: &[f32], c: *mut f32, shape: Shape) {
    #[address_space(shared)]
    static A: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    #[address_space(shared)]
    static B: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    tiled(a, b, c, shape, A.as_mut_ptr(), B.as_mut_ptr());
}

/// A block's tile of C, through tiles of A and B in shared memory.
///
/// # Safety
/// As for [`matmul_naive`], in blocks of `T` x `T` threads.
#[gpu_only]
#[inline(always)]
unsafe fn tiled<const T: usize>(
    a: &[f32],
    b: &[f32],
    c: *mut f32,
    shape: Shape,
    a_tile: *mut [[f32; T]; T],
    b_tile: *mut [[f32; T]; T],
) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let column = thread::block_idx_x() * T as u32 + x as u32;
    let row = thread::block_idx_y() * T as u32 + y as u32;
    // SAFETY: the block is T x T, so x and y are below T; elements are read where the matrices have them.
    unsafe {
        core::hint::assert_unchecked(x < T && y < T);
        let mut sum = 0.0;
        let mut first = 0;
        while first < shape.k {
            let (i, j) = (first + x as u32, first + y as u32);
            let inside = row < shape.m && i < shape.k;
            (*a_tile)[y][x] = if inside { *a.get_unchecked(at(row, i, shape.a_pitch)) } else { 0.0 };
            let inside = j < shape.k && column < shape.n;
            (*b_tile)[y][x] = if inside { *b.get_unchecked(at(j, column, shape.b_pitch)) } else { 0.0 };
            thread::sync_threads();
            for i in 0..T {
                sum = GpuFloat::mul_add((*a_tile)[y][i], (*b_tile)[i][x], sum);
            }
            // Nobody may overwrite a tile that another thread still reads.
            thread::sync_threads();
            first += T as u32;
        }
        if row < shape.m && column < shape.n {
            *c.add(at(row, column, shape.c_pitch)) = sum;
        }
    }
}

/// Rows and columns of C that a block of [`matmul_registers`] computes.
pub const REGISTER_TILE: u32 = 128;

/// Threads of a block of [`matmul_registers`].
pub const REGISTER_THREADS: u32 = 256;

/// Bytes of shared memory of such a block.
pub const REGISTER_SHARED: u64 = 2 * 8 * (33 + 32) * 16;

/// Rows of B, and columns of A, in a tile of [`matmul_registers`].
#[gpu_only]
const DEPTH: usize = 8;

/// Register tiles: a block computes 128 x 128 elements, and each of its 256 threads 8 x 8 of them, in four squares of 4 x 4. For each
/// step in k a thread reads 8 numbers of A and 8 of B from shared memory, 16 bytes at a time, and multiplies each with each. A is
/// turned on its way into shared memory, so that the 8 numbers stand side by side there. While the tiles are multiplied, the next
/// ones are on their way to registers.
///
/// # Safety
/// As for [`matmul_naive`], in blocks of [`REGISTER_THREADS`] threads in x, one for each [`REGISTER_TILE`] x [`REGISTER_TILE`] elements of C.
#[kernel(launch_bounds(256, 2))]
pub unsafe fn matmul_registers(a: &[f32], b: &[f32], c: *mut f32, shape: Shape) {
    // Rows of A's tile are 4 floats longer: the columns that are stored to them fall into different banks.
    #[address_space(shared)]
    static A: SharedCell<[[[f32x4; 33]; DEPTH]; 2]> = SharedCell::uninit();
    #[address_space(shared)]
    static B: SharedCell<[[[f32x4; 32]; DEPTH]; 2]> = SharedCell::uninit();
    let (a_tiles, b_tiles) = (A.as_mut_ptr(), B.as_mut_ptr());

    let t = thread::thread_idx_x() as usize;
    let (first_row, first_column) = (thread::block_idx_y() * REGISTER_TILE, thread::block_idx_x() * REGISTER_TILE);
    // What the thread loads: of A four numbers of a row, of B four of a row.
    let (a_row, a_k) = (t / 2, t % 2 * 4);
    let (b_k, b_column) = (t / 32, t % 32);
    let a = Matrix { first: a.as_ptr().cast_mut(), rows: shape.m, columns: shape.k, pitch: shape.a_pitch };
    let b = Matrix { first: b.as_ptr().cast_mut(), rows: shape.k, columns: shape.n, pitch: shape.b_pitch };
    let c = Matrix { first: c, rows: shape.m, columns: shape.n, pitch: shape.c_pitch };
    let load_a = |k: u32| a.load_quad(first_row + a_row as u32, k + a_k as u32);
    let load_b = |k: u32| b.load_quad(k + b_k as u32, first_column + 4 * b_column as u32);
    let store = |stage: usize, from_a: f32x4, from_b: f32x4| {
        for (k, value) in from_a.to_array().into_iter().enumerate() {
            *(&raw mut (*a_tiles)[stage][a_k + k]).cast::<f32>().add(a_row) = value;
        }
        (*b_tiles)[stage][b_k][b_column] = from_b;
    };
    // What it computes: rows 4 y to 4 y + 3 and 64 further down, columns 4 x to 4 x + 3 and 64 further right.
    let (x, y) = (t % 16, t / 16);
    let mut sums = [[0.0_f32; 8]; 8];

    store(0, load_a(0), load_b(0));
    thread::sync_threads();
    let mut k = 0;
    let mut stage = 0;
    while k < shape.k {
        let next = k + DEPTH as u32;
        let (next_a, next_b) = (load_a(next), load_b(next));
        unroll::<DEPTH>(|step| {
            let (rows, columns) = (&raw const (*a_tiles)[stage][step], &raw const (*b_tiles)[stage][step]);
            let rows = [(*rows)[y].to_array(), (*rows)[y + 16].to_array()];
            let columns = [(*columns)[x].to_array(), (*columns)[x + 16].to_array()];
            unroll::<8>(|i| {
                unroll::<8>(|j| {
                    sums[i][j] = GpuFloat::mul_add(rows[i / 4][i % 4], columns[j / 4][j % 4], sums[i][j]);
                });
            });
        });
        stage ^= 1;
        store(stage, next_a, next_b);
        thread::sync_threads();
        k = next;
    }
    unroll::<8>(|i| {
        let row = first_row + (4 * y + i % 4 + 64 * (i / 4)) as u32;
        let [left, right] = [&sums[i][..4], &sums[i][4..]].map(|four| f32x4::new(four[0], four[1], four[2], four[3]));
        c.store_quad(row, first_column + 4 * x as u32, left);
        c.store_quad(row, first_column + 4 * x as u32 + 64, right);
    });
}
