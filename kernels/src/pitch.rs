//! Pitch: rows that each start where the hardware starts.
//!
//! A row of 120 floats takes 480 bytes. Linear rows follow each other directly, so the second one starts at byte 480, in the middle
//! of a line of 128 bytes; a row of 1001 floats even starts in the middle of a sector. A *pitched* allocation makes each row as
//! long as a multiple of the device's alignment (256 or 512 bytes), so that each row starts on a line, and pays with memory that is
//! never used.
//!
//! Reading by rows, a warp needs one sector more for a row that starts in the middle of one. Reading by columns, every lane is in a
//! row of its own, whatever the pitch: what helps there is to transpose once, and read the copy by rows.
//!
//! What to look for: sectors per request of loads, and the extra memory in the report. On a GPU the times of the two-dimensional
//! copies, too: the driver copies row by row.
//!
//! # Shapes
//!
//! `rows` x `columns` floats, row `r` at `r * pitch`. Blocks are one-dimensional; a grid has a block row in y for each row, and
//! goes on in z where there are more than it can have.
//!
//! Source: the Russian lecture on global memory (rows of 120 floats).

#[gpu_only]
use cuda_std::thread;
use cuda_std::{gpu_only, kernel};

/// Reads by rows: lanes side by side in a row. Each element is doubled on its way.
///
/// # Safety
/// `matrix` holds `rows` rows of `pitch >= columns` elements, `output` as many of `columns` elements, and nothing else uses `output`
/// during the launch.
#[kernel]
pub unsafe fn pitch_rows(matrix: *const f32, output: *mut f32, rows: usize, columns: usize, pitch: usize) {
    let (row, column) = (line(), thread::wide_index_1d());
    if row < rows && column < columns {
        *output.add(row * columns + column) = 2.0 * *matrix.add(row * pitch + column);
    }
}

/// Reads by columns: lanes one below the other, each in a row of its own. The grid's block rows are columns of the matrix; the
/// output is the transpose, so that its stores are coalesced.
///
/// # Safety
/// As for [`pitch_rows`], but `output` has room for the transpose.
#[kernel]
pub unsafe fn pitch_columns(matrix: *const f32, output: *mut f32, rows: usize, columns: usize, pitch: usize) {
    let (row, column) = (thread::wide_index_1d(), line());
    if row < rows && column < columns {
        *output.add(column * rows + row) = 2.0 * *matrix.add(row * pitch + column);
    }
}

/// The block row of this block, counted through the layers of the grid.
#[gpu_only]
#[inline(always)]
fn line() -> usize {
    thread::block_idx_z() as usize * thread::grid_dim_y() as usize + thread::block_idx_y() as usize
}
