//! Matrices in global memory: where an element lies, and four neighbours of a row at once.

use cuda_std::vector::f32x4;

/// Where (row, column) lies in a matrix: 64 bits, since from 32768 x 32768 floats on 32 do not hold the offset in bytes.
#[inline(always)]
pub(crate) fn at(row: u32, column: u32, pitch: u32) -> usize {
    row as usize * pitch as usize + column as usize
}

/// A row-major matrix, with rows `pitch` elements apart.
#[derive(Clone, Copy)]
pub(crate) struct Matrix {
    /// The first element. For the functions of four neighbours it is aligned to 16 bytes.
    pub first: *mut f32,
    pub rows: u32,
    pub columns: u32,
    pub pitch: u32,
}

impl Matrix {
    /// Four neighbours of a row, from `column` on: one load where they are all there and aligned to 16 bytes, else one by one, 0
    /// for those that are not there.
    ///
    /// # Safety
    /// The matrix is where it says, and nothing writes it meanwhile.
    #[inline(always)]
    pub unsafe fn load_quad(self, row: u32, column: u32) -> f32x4 {
        let first = self.at(row, column);
        if row >= self.rows || column >= self.columns {
            return f32x4::splat(0.0);
        }
        // SAFETY: each element is read only where the matrix has it.
        unsafe {
            if self.is_one_word(column) {
                return *first.cast();
            }
            let one = |i: u32| if column + i < self.columns { *first.add(i as usize) } else { 0.0 };
            f32x4::new(one(0), one(1), one(2), one(3))
        }
    }

    /// Writes four neighbours of a row, as far as the matrix has them.
    ///
    /// # Safety
    /// The matrix is where it says, and nothing else uses these elements meanwhile.
    #[inline(always)]
    pub unsafe fn store_quad(self, row: u32, column: u32, values: f32x4) {
        let first = self.at(row, column);
        if row >= self.rows || column >= self.columns {
            return;
        }
        // SAFETY: each element is written only where the matrix has it.
        unsafe {
            if self.is_one_word(column) {
                *first.cast() = values;
                return;
            }
            for (i, value) in values.to_array().into_iter().enumerate() {
                if column + (i as u32) < self.columns {
                    *first.add(i) = value;
                }
            }
        }
    }

    /// Whether four elements from `column` on are all there, in rows aligned to 16 bytes.
    #[inline(always)]
    fn is_one_word(self, column: u32) -> bool {
        self.pitch.is_multiple_of(4) && self.columns - column >= 4
    }

    /// Where an element is.
    #[inline(always)]
    pub fn at(self, row: u32, column: u32) -> *mut f32 {
        self.first.wrapping_add(row as usize * self.pitch as usize + column as usize)
    }
}
