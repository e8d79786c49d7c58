//! The product of a matrix with its own transpose, in registers: the step between
//! [`gram_mirrored`](crate::gram::gram_mirrored) and `best_kernels::gram`.
//!
//! The tiles are those of [`matmul_registers`](crate::matmul::matmul_registers): a block computes
//! 128 x 128 elements of `C`, each of its 256 threads 8 x 8 of them in four squares of 4 x 4, so
//! that 16 numbers loaded from shared memory serve 64 products. As in `gram_mirrored`, blocks above
//! the diagonal leave at once. Two things differ from `matmul_registers`:
//!
//! * Both operands are rows of `A`, so both tiles are transposed on their way into shared memory.
//!   Their rows are 4 floats longer, so that the columns are stored to different banks.
//! * A tile below the diagonal is written twice, without shared memory: a square of 4 x 4 that a
//!   thread holds as 4 rows is also 4 columns, so either way it writes words of 16 bytes. In the
//!   mirrored tile a warp writes to 16 rows, but two neighbouring threads fill each sector: 16
//!   sectors per request, as few as 512 bytes can be.
//!
//! What to look for: GFLOP/s, which count the whole product, against `mirrored`, and the sectors
//! per request of stores.
//!
//! # Where `unsafe` begins
//!
//! As in [`gram`](crate::gram): the kernel promises that a barrier stands between the writes to a
//! stage of the tiles and the reads of other threads, and that each element of `C` is written by
//! one thread. The sanitizer checks exactly this.

use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{GpuFloat, address_space, shared::SharedCell, thread, unroll, vector::f32x4};

/// Rows and columns of C that a block computes.
pub const TILE: u32 = 128;

/// Bytes of shared memory of a block.
pub const SHARED: u64 = 2 * 2 * 8 * 33 * 16;

/// Register tiles, only on and below the diagonal, each written twice.
#[kernel(block(256))]
pub fn gram_registers(a: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static ROWS: SharedCell<[[[f32x4; 33]; 8]; 2]> = SharedCell::uninit();
    #[address_space(shared)]
    static COLS: SharedCell<[[[f32x4; 33]; 8]; 2]> = SharedCell::uninit();
    let (rows, cols) = (ROWS.as_mut_ptr(), COLS.as_mut_ptr());
    let (tile_row, tile_col) = (thread::block_row(), thread::block_idx_x());
    if tile_col > tile_row || tile_row >= c.rows().div_ceil(128) {
        return;
    }
    let (row, col) = (128 * tile_row, 128 * tile_col);
    let t = thread::thread_idx_x() as usize;
    // What the thread loads: four numbers of a row of A for each tile.
    let (line, first) = (t / 2, t % 2 * 4);
    let mut for_rows = a.quad(row + line as u32, first as u32);
    let mut for_cols = a.quad(col + line as u32, first as u32);
    // What it computes: rows from 4 y on and from 4 y + 64, columns from 4 x on and from 4 x + 64.
    let (x, y) = (t % 16, t / 16);
    let mut sums = [[0.0; 8]; 8];

    let (mut k, mut stage) = (0, 0);
    loop {
        for i in 0..4 {
            // SAFETY: the words are this thread's until the barrier; others read the other stage.
            unsafe {
                let to = [&raw mut (*rows)[stage][first + i], &raw mut (*cols)[stage][first + i]];
                *to[0].cast::<f32>().add(line) = for_rows.to_array()[i];
                *to[1].cast::<f32>().add(line) = for_cols.to_array()[i];
            }
        }
        thread::sync_threads();
        if k >= a.cols() {
            break;
        }
        k += 8;
        for_rows = a.quad(row + line as u32, k + first as u32);
        for_cols = a.quad(col + line as u32, k + first as u32);
        unroll::<8>(|step| {
            // SAFETY: until the next barrier all threads only read this stage.
            let (rows, cols) = unsafe { (&(*rows)[stage][step], &(*cols)[stage][step]) };
            let rows = [rows[y].to_array(), rows[y + 16].to_array()];
            let cols = [cols[x].to_array(), cols[x + 16].to_array()];
            unroll::<8>(|i| {
                unroll::<8>(|j| {
                    sums[i][j] = rows[i / 4][i % 4].mul_add(cols[j / 4][j % 4], sums[i][j]);
                });
            });
        });
        stage = 1 - stage;
    }

    let (top, left) = (row + 4 * y as u32, col + 4 * x as u32);
    unroll::<8>(|i| {
        // The thread's row `i`, and its column `i`, which is a row of the mirrored tile.
        let down = (i % 4 + 64 * (i / 4)) as u32;
        unroll::<2>(|half| {
            let in_row = f32x4::from_array([0, 1, 2, 3].map(|k| sums[i][4 * half + k]));
            let in_col = f32x4::from_array([0, 1, 2, 3].map(|k| sums[4 * half + k][i]));
            // SAFETY: blocks above the diagonal write nothing, so no other thread writes these.
            unsafe {
                c.set_quad(top + down, left + 64 * half as u32, in_row);
                if row != col {
                    c.set_quad(left + down, top + 64 * half as u32, in_col);
                }
            }
        });
    });
}
