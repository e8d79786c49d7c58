//! The product of a matrix with its own transpose, in registers: the step between
//! [`gram_mirrored`](crate::gram::gram_mirrored) and `best_kernels::gram`.
//!
//! A block computes 128 x 128 elements of `C`, each thread 8 x 8 of them, as in
//! [`matmul_wide`](crate::register_tiles::matmul_wide). As in `gram_mirrored`, blocks above the
//! diagonal return at once. Two things differ from `matmul_wide`:
//!
//! * Both operands are rows of `A`, so both tiles are transposed on their way into shared memory.
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
//! As in [`gram`](crate::gram): the kernel promises that a barrier stands between the writes to the
//! tiles and the reads of other threads, and that each element of `C` is written by one thread. The
//! sanitizer checks exactly this.

#[gpu_only]
use crate::register_tiles::{ATile, multiply, write};
use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread};

/// Rows and columns of C that a block computes.
pub const TILE: u32 = 128;

/// Register tiles, only on and below the diagonal, each written twice.
#[kernel(block(16, 16), min_blocks(2))]
pub fn gram_registers(a: Matrix<f32>, mut c: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static ROWS: SharedCell<ATile> = SharedCell::uninit();
    #[address_space(shared)]
    static COLS: SharedCell<ATile> = SharedCell::uninit();
    let (rows, cols) = (ROWS.as_mut_ptr(), COLS.as_mut_ptr());
    let (tile_row, tile_col) = (thread::block_row(), thread::block_idx_x());
    if tile_col > tile_row {
        return;
    }
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (128 * tile_row, 128 * tile_col);
    // What the thread loads: four numbers of a row of A for each tile.
    let (line, first) = ((16 * y + x) / 2, (16 * y + x) % 2 * 4);

    let mut sums = [[0.0; 8]; 8];
    for k in (0..a.cols()).step_by(8) {
        let for_rows = a.quad(row + line, k + first).to_array();
        let for_cols = a.quad(col + line, k + first).to_array();
        for i in 0..4 {
            // SAFETY: these elements are this thread's until the barrier.
            unsafe {
                (*rows)[first as usize + i][line as usize] = for_rows[i];
                (*cols)[first as usize + i][line as usize] = for_cols[i];
            }
        }
        thread::sync_threads();
        // SAFETY: between the barriers all threads only read the tiles.
        unsafe { multiply(&*rows, &*cols, &mut sums) };
        thread::sync_threads();
    }
    // SAFETY: blocks above the diagonal write nothing, so no other thread writes these elements.
    unsafe { write(&mut c, row + 4 * y, col + 4 * x, &sums) };
    if row != col {
        let mirrored = core::array::from_fn(|i| core::array::from_fn(|j| sums[j][i]));
        // SAFETY: the same.
        unsafe { write(&mut c, col + 4 * x, row + 4 * y, &mirrored) };
    }
}
