//! Matrices in words of 16 bytes: four neighbours of a row at once, wherever the matrix ends.

use cuda_std::vector::f32x4;

/// A row-major matrix of `rows` x `columns`, with rows `pitch` elements apart, whose first element stands on 16 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Quads {
    pub rows: u32,
    pub columns: u32,
    pub pitch: u32,
    pub first: *mut f32,
}

impl Quads {
    /// Four neighbours of a row, from `column` on: one load where they are all there and stand on 16 bytes, else one by one, 0
    /// for those that are not there.
    ///
    /// # Safety
    /// The matrix is where it says, and nothing writes it meanwhile.
    #[inline(always)]
    pub unsafe fn load(self, row: u32, column: u32) -> f32x4 {
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
    pub unsafe fn store(self, row: u32, column: u32, values: f32x4) {
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

    /// Whether four elements from `column` on are all there, and their rows stand on 16 bytes.
    #[inline(always)]
    fn is_one_word(self, column: u32) -> bool {
        self.pitch.is_multiple_of(4) && self.columns - column >= 4
    }

    /// Where an element is.
    #[inline(always)]
    fn at(self, row: u32, column: u32) -> *mut f32 {
        self.first.wrapping_add(row as usize * self.pitch as usize + column as usize)
    }
}
