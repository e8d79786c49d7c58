//! Sums of the rows of a matrix, and means of its columns: which threads read side by side.
//!
//! The obvious way is a thread for each row ([`rows_sum_global`]). It walks along its row, and at
//! each step the lanes of a warp are in 32 different rows: 32 sectors for 32 floats. The better way
//! is a block for each row ([`rows_sum_shared`]): its threads read the row side by side, a block's
//! length at a time, and add up their sums in shared memory.
//!
//! With columns it is the other way round. Threads with a column each read side by side all the way
//! down, and global memory alone is fine, except that there may be too few threads.
//! [`rows_column_means_shared`] puts eight of them on each column.
//!
//! | kernel | threads of a warp read | sectors per load |
//! | --- | --- | --- |
//! | [`rows_sum_global`] | 32 rows at once | 32 |
//! | [`rows_sum_shared`] | a row, side by side | 4 |
//! | [`rows_column_means_global`], [`rows_column_means_shared`] | 32 columns of a row | 4 |
//!
//! Means, extremes and sums of squares of rows are generated in [`crate::rows_all`]. The fastest
//! kernels, one for each shape, are in `best_kernels::rows`.
//!
//! What to look for: sectors per request of loads; with rows of 1000 or 1001 floats, linear against
//! pitched.
//!
//! # Where `unsafe` begins
//!
//! The compiler sees one thread. The kernels promise that a barrier separates a write to shared
//! memory from another thread's access, and that no other thread writes the result of a block's row
//! or column. The sanitizer checks exactly this. It holds for any launch, though
//! [`rows_sum_shared`] is right only if its blocks have a power of two of threads.
//!
//! Source: the lab sheet, exercise on matrices, variants 2 to 6 (1000 x 1000).

use cuda_std::{DisjointSlice, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread};

/// The most threads of a block.
pub const MOST_THREADS: u32 = 1024;

/// The sum of each row, by a thread for each row.
#[kernel(linear)]
pub fn rows_sum_global(matrix: Matrix<f32>, mut sums: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let (Some(row), Some(sum)) = (matrix.row(i.get() as u32), sums.get_mut(i)) {
        *sum = row.iter().sum();
    }
}

/// The sum of each row, by a block for each row.
#[kernel(linear)]
pub fn rows_sum_shared(matrix: Matrix<f32>, mut sums: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; MOST_THREADS as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<f32>();
    let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());

    let mut sum = 0.0;
    if let Some(row) = matrix.row(thread::block_idx_x()) {
        let mut i = t as usize;
        while let Some(element) = row.get(i) {
            sum += element;
            i += threads as usize;
        }
    }
    // SAFETY: each thread has its own element.
    unsafe { *stage.add(t as usize) = sum };
    thread::sync_threads();

    let mut s = threads / 2;
    while s > 0 {
        if t < s {
            // SAFETY: in this step only this thread uses these two, and t + s < 2 s <= threads.
            unsafe { *stage.add(t as usize) += *stage.add((t + s) as usize) };
        }
        thread::sync_threads();
        s /= 2;
    }

    // SAFETY: only the first thread of the block writes the row's sum, and reads its own element.
    if t == 0
        && let Some(sum) = unsafe { sums.element_mut(thread::block_idx_x() as usize) }
    {
        *sum = unsafe { *stage };
    }
}

/// The mean of each column, by a thread for each column.
#[kernel(linear)]
pub fn rows_column_means_global(matrix: Matrix<f32>, mut means: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let Some(mean) = means.get_mut(i) {
        let sum: f32 = matrix.column(i.get() as u32).sum();
        *mean = sum / matrix.rows() as f32;
    }
}

/// The mean of each column, by eight threads for each column: each takes every eighth row.
#[kernel(block(32, 8))]
pub fn rows_column_means_shared(matrix: Matrix<f32>, mut means: DisjointSlice<f32>) {
    #[address_space(shared)]
    static SUMS: SharedCell<[[f32; 32]; 8]> = SharedCell::uninit();
    let sums = SUMS.as_mut_ptr();
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let at = thread::position();

    let mut sum = 0.0;
    for row in (y as u32..matrix.rows()).step_by(8) {
        sum += matrix.get(row, at.col()).copied().unwrap_or(0.0);
    }
    // SAFETY: each thread has its own element.
    unsafe { (*sums)[y][x] = sum };
    thread::sync_threads();

    // SAFETY: only one thread of the grid has this column and row 0.
    if at.row() == 0
        && let Some(mean) = unsafe { means.element_mut(at.col() as usize) }
    {
        let mut sum = 0.0;
        for y in 0..8 {
            // SAFETY: after the barrier all threads only read.
            sum += unsafe { (*sums)[y][x] };
        }
        *mean = sum / matrix.rows() as f32;
    }
}
