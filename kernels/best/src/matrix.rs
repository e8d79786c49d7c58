//! Matrices in global memory: where an element lies, and which row of blocks a block is in.

use cuda_std::thread;

/// Where (row, column) lies in a matrix: 64 bits, since from 32768 x 32768 floats on 32 do not hold
/// the offset in bytes.
#[inline(always)]
pub(crate) fn at(row: u32, column: u32, pitch: u32) -> usize {
    row as usize * pitch as usize + column as usize
}

/// The row of this block in the grid, counted through its layers.
#[inline(always)]
pub(crate) fn block_row() -> u32 {
    thread::block_idx_z() * thread::grid_dim_y() + thread::block_idx_y()
}

/// A row-major matrix, with rows `pitch` elements apart.
#[derive(Clone, Copy)]
pub(crate) struct Matrix {
    /// The first element.
    pub first: *mut f32,
    pub rows: u32,
    pub columns: u32,
    pub pitch: u32,
}

impl Matrix {
    /// Where an element is.
    #[inline(always)]
    pub fn at(self, row: u32, column: u32) -> *mut f32 {
        self.first.wrapping_add(at(row, column, self.pitch))
    }
}
