//! The part of a matrix that a block stores to.

use cuda_std::{unroll, vector::f32x4};

use crate::matrix::Matrix;

/// The part of a matrix from a row and a column on.
pub(super) struct Window {
    pub row: u32,
    pub column: u32,
    pub matrix: Matrix,
}

impl Window {
    /// Writes four neighbours of a row, as far as they are in the window.
    ///
    /// # Safety
    /// Nothing else uses them meanwhile.
    #[inline(always)]
    pub unsafe fn store(&self, row: u32, column: u32, values: f32x4) {
        let Matrix { rows, columns, pitch, .. } = self.matrix;
        let place = self.matrix.at(row, column);
        if row < self.row || row >= rows {
            return;
        }
        // SAFETY: each element is in the matrix.
        unsafe {
            if column >= self.column && column + 4 <= columns && (pitch | column).is_multiple_of(4)
            {
                *place.cast() = values;
            } else {
                let values = values.to_array();
                unroll::<4>(|e| {
                    let column = column + e as u32;
                    if column >= self.column && column < columns {
                        *place.add(e) = values[e];
                    }
                });
            }
        }
    }
}
