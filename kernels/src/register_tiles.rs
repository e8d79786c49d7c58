//! The climb from [`matmul_registers`](crate::matmul::matmul_registers) to the best matrix product:
//! each kernel adds one idea to the one before.
//!
//! | kernel | idea | what it saves |
//! | --- | --- | --- |
//! | [`matmul_wide`] | words of 16 bytes | three of four shared loads; the stall *MIO throttle* |
//! | [`matmul_async2`] | load the next tiles during the product | the stall *long scoreboard* |
//! | [`matmul_async3`] | and the tiles after those | little: hardly anything is left to wait for |
//! | `best_kernels::matmul` | an order that suits the banks of registers | the stall *dispatch* |
//!
//! What to look for: shared loads, and GFLOP/s; in Nsight Compute the stalls. An H200 has them so,
//! in warps that wait per instruction issued; the wavefronts are of shared memory (`ncu`,
//! `host matmul --m 2048 --once`, 2026-11-26):
//!
//! | kernel | long scoreboard | barrier | dispatch | MIO throttle | instructions | wavefronts |
//! | --- | ---: | ---: | ---: | ---: | ---: | ---: |
//! | `matmul_registers` | 0.45 | 0.25 | 0.49 | 0.24 | 422 million | 71.9 million |
//! | `matmul_wide` | 0.74 | 0.57 | 0.44 | 0.03 | 307 million | 55.2 million |
//! | `matmul_async2` | 0.01 | 0.27 | 0.65 | 0.00 | 338 million | 63.1 million |
//! | `matmul_async3` | 0.01 | 0.12 | 0.69 | 0.00 | 349 million | 62.5 million |
//! | `best_kernels::matmul` | 0.07 | 0.28 | 0.25 | 0.03 | 302 million | 42.3 million |
//!
//! The copies are instructions, too: `matmul_async2` takes as long as `matmul_wide` at 2048
//! (441 us), and 10 % less at 3072. `matmul_async3` takes 4 % more than `matmul_async2`.
//!
//! # Shapes
//!
//! As for [`matmul_registers`](crate::matmul::matmul_registers): a block of 16 x 16 threads
//! computes 128 x 128 elements of `C`, in steps of 8 in `k`.
//!
//! # Where `unsafe` begins
//!
//! The compiler sees one thread. The kernels promise that a barrier separates the writes to a tile
//! from the reads of other threads, that an asynchronous copy is waited for, and that no other
//! thread has the same elements of `C`. The sanitizer checks exactly this.
//!
//! Sources: NVIDIA's CUTLASS ("Efficient GEMM in CUDA"); PTX manual, "Asynchronous copy".

use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{
    GpuFloat, address_space, pipeline,
    shared::{SharedAddress, SharedCell},
    thread, unroll,
    vector::f32x4,
};

/// Bytes of shared memory of [`matmul_async3`], which needs the most.
pub const MOST_SHARED: u64 = 3 * 4 * (8 * 132 + 8 * 128);

/// Tiles of A in shared memory, transposed: a column of A lies side by side. Lines are 4 floats
/// longer, so that the numbers of a row of A are stored to different banks.
#[gpu_only]
pub(crate) type ATile = [[f32; 132]; 8];
#[gpu_only]
type BTile = [[f32; 128]; 8];

/// Words of 16 bytes: the thread's rows are 4 y to 4 y + 3 and 64 further down, its columns 4 x to
/// 4 x + 3 and 64 further on, so that it reads four numbers at a time.
#[kernel(block(16, 16), min_blocks(2))]
pub fn matmul_wide(a: Matrix<f32>, b: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static A: SharedCell<ATile> = SharedCell::uninit();
    #[address_space(shared)]
    static B: SharedCell<BTile> = SharedCell::uninit();
    let (a_tile, b_tile) = (A.as_mut_ptr(), B.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let t = 16 * y + x;
    let (row, col) = (128 * thread::block_row(), 128 * thread::block_idx_x());
    // What the thread loads: four numbers of a row of A, and four of a row of B.
    let (a_row, a_k, b_k, b_col) = (t / 2, t % 2 * 4, t / 32, t % 32 * 4);

    let mut sums = [[0.0; 8]; 8];
    for k in (0..a.cols()).step_by(8) {
        let from_a = a.quad(row + a_row, k + a_k).to_array();
        let from_b = b.quad(k + b_k, col + b_col).to_array();
        for i in 0..4 {
            // SAFETY: these elements are this thread's until the barrier.
            unsafe {
                (*a_tile)[a_k as usize + i][a_row as usize] = from_a[i];
                (*b_tile)[b_k as usize][b_col as usize + i] = from_b[i];
            }
        }
        thread::sync_threads();
        // SAFETY: between the barriers all threads only read the tiles.
        unsafe { multiply(&*a_tile, &*b_tile, &mut sums) };
        thread::sync_threads();
    }
    // SAFETY: no other thread of the block has these elements, and no other block has this tile.
    unsafe { write(&mut c, row + 4 * y, col + 4 * x, &sums) };
}

/// Asynchronous copies (`cp.async`) to two tiles of each matrix: while one is multiplied, the next
/// is copied to the other. No register holds it meanwhile, and one barrier a tile is enough.
#[kernel(block(16, 16), min_blocks(2))]
pub fn matmul_async2(a: Matrix<f32>, b: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    const STAGES: usize = 2;
    #[address_space(shared)]
    static A: SharedCell<[ATile; STAGES]> = SharedCell::uninit();
    #[address_space(shared)]
    static B: SharedCell<[BTile; STAGES]> = SharedCell::uninit();
    let (a_tiles, b_tiles) = (A.as_mut_ptr(), B.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (128 * thread::block_row(), 128 * thread::block_idx_x());

    let mut sums = [[0.0; 8]; 8];
    for ahead in 0..STAGES - 1 {
        // SAFETY: no thread uses the tiles yet.
        unsafe {
            let a_tile = SharedAddress::of(&raw const (*a_tiles)[ahead]);
            let b_tile = SharedAddress::of(&raw const (*b_tiles)[ahead]);
            start_copies(&a, &b, [row, col, 8 * ahead as u32], a_tile, b_tile);
        }
    }
    for tile in 0..a.cols().div_ceil(8) as usize {
        // This tile has arrived, and all threads have read the one before, which the next copies
        // overwrite.
        pipeline::wait_prior::<{ STAGES as u32 - 2 }>();
        thread::sync_threads();
        let (now, ahead) = (tile % STAGES, (tile + STAGES - 1) % STAGES);
        // SAFETY: until the next barrier all threads read one stage and copy to another.
        unsafe {
            let a_tile = SharedAddress::of(&raw const (*a_tiles)[ahead]);
            let b_tile = SharedAddress::of(&raw const (*b_tiles)[ahead]);
            let k = 8 * (tile + STAGES - 1) as u32;
            start_copies(&a, &b, [row, col, k], a_tile, b_tile);
            multiply(&(*a_tiles)[now], &(*b_tiles)[now], &mut sums);
        }
    }
    // SAFETY: no other thread of the block has these elements, and no other block has this tile.
    unsafe { write(&mut c, row + 4 * y, col + 4 * x, &sums) };
}

/// Three tiles of each matrix: while one is multiplied, the next two are copied.
#[kernel(block(16, 16), min_blocks(2))]
pub fn matmul_async3(a: Matrix<f32>, b: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    const STAGES: usize = 3;
    #[address_space(shared)]
    static A: SharedCell<[ATile; STAGES]> = SharedCell::uninit();
    #[address_space(shared)]
    static B: SharedCell<[BTile; STAGES]> = SharedCell::uninit();
    let (a_tiles, b_tiles) = (A.as_mut_ptr(), B.as_mut_ptr());
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (128 * thread::block_row(), 128 * thread::block_idx_x());

    let mut sums = [[0.0; 8]; 8];
    for ahead in 0..STAGES - 1 {
        // SAFETY: no thread uses the tiles yet.
        unsafe {
            let a_tile = SharedAddress::of(&raw const (*a_tiles)[ahead]);
            let b_tile = SharedAddress::of(&raw const (*b_tiles)[ahead]);
            start_copies(&a, &b, [row, col, 8 * ahead as u32], a_tile, b_tile);
        }
    }
    for tile in 0..a.cols().div_ceil(8) as usize {
        // This tile has arrived, and all threads have read the one before, which the next copies
        // overwrite.
        pipeline::wait_prior::<{ STAGES as u32 - 2 }>();
        thread::sync_threads();
        let (now, ahead) = (tile % STAGES, (tile + STAGES - 1) % STAGES);
        // SAFETY: until the next barrier all threads read one stage and copy to another.
        unsafe {
            let a_tile = SharedAddress::of(&raw const (*a_tiles)[ahead]);
            let b_tile = SharedAddress::of(&raw const (*b_tiles)[ahead]);
            let k = 8 * (tile + STAGES - 1) as u32;
            start_copies(&a, &b, [row, col, k], a_tile, b_tile);
            multiply(&(*a_tiles)[now], &(*b_tiles)[now], &mut sums);
        }
    }
    // SAFETY: no other thread of the block has these elements, and no other block has this tile.
    unsafe { write(&mut c, row + 4 * y, col + 4 * x, &sums) };
}
/// Starts the copies of the tiles whose elements of C begin at `row` and `col`, from step `k` on.
///
/// # Safety
/// All threads of the block call it, and none uses the tiles until the copies are waited for.
#[gpu_only]
#[inline(always)]
unsafe fn start_copies(
    a: &Matrix<f32>,
    b: &Matrix<f32>,
    [row, col, k]: [u32; 3],
    a_tile: SharedAddress<ATile>,
    b_tile: SharedAddress<BTile>,
) {
    let t = 16 * thread::thread_idx_y() + thread::thread_idx_x();
    unroll::<4>(|round| {
        let i = t + 256 * round as u32;
        let (a_row, a_k, b_k, b_col) = (i / 8, i % 8, i / 128, i % 128);
        let (from_a, from_b) = (a.get(row + a_row, k + a_k), b.get(k + b_k, col + b_col));
        // SAFETY: this thread alone copies to these two elements.
        unsafe {
            pipeline::fetch(a_tile.element(a_k, a_row), from_a);
            pipeline::fetch(b_tile.element(b_k, b_col), from_b);
        }
    });
    pipeline::commit();
}

/// Multiplies two tiles: adds to each of the thread's 8 x 8 sums the products of 8 steps. Its rows
/// are 4 y to 4 y + 3 and 64 further down, its columns 4 x to 4 x + 3 and 64 further on.
#[gpu_only]
#[inline(always)]
pub(crate) fn multiply<const N: usize>(a: &ATile, b: &[[f32; N]; 8], sums: &mut [[f32; 8]; 8]) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    unroll::<8>(|step| {
        let (a, b) = (words(&a[step]), words(&b[step]));
        let rows = [a[y].to_array(), a[y + 16].to_array()];
        let cols = [b[x].to_array(), b[x + 16].to_array()];
        unroll::<8>(|i| {
            unroll::<8>(|j| {
                sums[i][j] = rows[i / 4][i % 4].mul_add(cols[j / 4][j % 4], sums[i][j]);
            });
        });
    });
}

/// A line of a tile in words of 16 bytes.
#[gpu_only]
#[inline(always)]
fn words<const N: usize>(line: &[f32; N]) -> &[f32x4; 32] {
    const { assert!(N >= 128 && N % 4 == 0) }
    // SAFETY: tiles start on 16 bytes, and a line is a multiple of that long.
    unsafe { &*line.as_ptr().cast() }
}

/// Writes a thread's sums, of which the first belongs to this row and column of C.
///
/// # Safety
/// No other thread writes these elements.
#[gpu_only]
#[inline(always)]
pub(crate) unsafe fn write(c: &mut DisjointMatrix<f32>, row: u32, col: u32, sums: &[[f32; 8]; 8]) {
    unroll::<8>(|i| {
        let row = row + 64 * (i as u32 / 4) + i as u32 % 4;
        let [left, right] = [0, 4].map(|j| f32x4::from_array([0, 1, 2, 3].map(|k| sums[i][j + k])));
        // SAFETY: they are this thread's, by the promise of this function.
        unsafe {
            c.set_quad(row, col, left);
            c.set_quad(row, col + 64, right);
        }
    });
}
