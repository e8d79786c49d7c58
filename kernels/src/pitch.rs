//! Pitch: rows padded to the hardware's alignment.
//!
//! A row of 120 floats takes 480 bytes. Linear rows follow each other directly, so the second one
//! starts at byte 480, in the middle of a line of 128 bytes; a row of 1001 floats even starts in
//! the middle of a sector. A *pitched* allocation makes each row as long as a multiple of the
//! device's alignment (256 or 512 bytes), so that each row starts on a line, at the price of memory
//! that is never used.
//!
//! Reading by rows, a warp needs one sector more for a row that starts in the middle of one.
//! Reading by columns, every lane is in a different row, whatever the pitch: what helps there is to
//! transpose once, and read the copy by rows.
//!
//! What to look for: sectors per request of loads, and the extra memory in the report. On a GPU the
//! times of the two-dimensional copies, too: the driver copies row by row.
//!
//! # Shapes
//!
//! A grid has a row of blocks for each row of the output, and continues in z where there are more
//! than fit in y. Both kernels write the element at the thread's own position, so the lanes of a
//! warp write side by side. A matrix is linear or pitched: the kernels cannot tell.
//!
//! Source: the Russian lecture on global memory (rows of 120 floats).

#[gpu_only]
use cuda_std::thread;
use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};

/// Reads by rows: lanes side by side in a row. Each element is doubled on its way.
#[kernel]
pub fn pitch_rows(matrix: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let at = thread::position();
    if let (Some(from), Some(to)) = (matrix.get(at.row(), at.col()), output.get_mut(at)) {
        *to = 2.0 * from;
    }
}

/// Reads by columns: lanes one below the other, each in a different row. The output is the
/// transpose.
#[kernel]
pub fn pitch_columns(matrix: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let at = thread::position();
    if let (Some(from), Some(to)) = (matrix.get(at.col(), at.row()), output.get_mut(at)) {
        *to = 2.0 * from;
    }
}
