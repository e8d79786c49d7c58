//! Matrices in words of 16 bytes: four neighbours of a row at once, wherever the matrix ends.

use cuda_std::{mem, vector::f32x4};

/// A row-major matrix of `rows` x `columns`, with rows `pitch` elements apart, whose first element stands on 16 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Quads {
    pub rows: u32,
    pub columns: u32,
    pub pitch: u32,
    pub first: *mut f32,
}

impl Quads {
    /// Whether all words of a square tile are inside the matrix, and stand on 16 bytes if their column is a multiple of 4.
    #[inline(always)]
    pub fn is_whole(self, row: u32, column: u32, side: u32) -> bool {
        self.pitch.is_multiple_of(4) && row + side <= self.rows && column + side <= self.columns
    }

    /// Four neighbours of a row, from `column` on: one load where they are all there and stand on 16 bytes, else one by one, 0
    /// for those that are not there. With `WHOLE` the caller knows that it is one load.
    ///
    /// # Safety
    /// The matrix is where it says, nothing writes it meanwhile, and `WHOLE` is true.
    #[inline(always)]
    pub unsafe fn load<const WHOLE: bool>(self, row: u32, column: u32) -> f32x4 {
        // SAFETY: as the caller says.
        unsafe { self.load_by::<WHOLE>(row, column, |quad| *quad) }
    }

    /// The same past L1, for what nobody reads again.
    ///
    /// # Safety
    /// As for [`Quads::load`].
    #[inline(always)]
    pub unsafe fn load_once<const WHOLE: bool>(self, row: u32, column: u32) -> f32x4 {
        // SAFETY: as the caller says.
        unsafe { self.load_by::<WHOLE>(row, column, |quad| mem::load_cg(quad)) }
    }

    #[inline(always)]
    unsafe fn load_by<const WHOLE: bool>(self, row: u32, column: u32, load: impl Fn(*const f32x4) -> f32x4) -> f32x4 {
        let first = self.at(row, column);
        if WHOLE {
            return load(first.cast());
        }
        if row >= self.rows || column >= self.columns {
            return f32x4::splat(0.0);
        }
        if self.is_one_word(column) {
            return load(first.cast());
        }
        // SAFETY: each element is read only where the matrix has it.
        let one = |i: u32| unsafe { if column + i < self.columns { *first.add(i as usize) } else { 0.0 } };
        f32x4::new(one(0), one(1), one(2), one(3))
    }

    /// Writes four neighbours of a row, as far as the matrix has them.
    ///
    /// # Safety
    /// The matrix is where it says, nothing else uses these elements meanwhile, and `WHOLE` is true.
    #[inline(always)]
    pub unsafe fn store<const WHOLE: bool>(self, row: u32, column: u32, values: f32x4) {
        let first = self.at(row, column);
        // SAFETY: each element is written only where the matrix has it.
        unsafe {
            if WHOLE {
                *first.cast() = values;
            } else if row < self.rows && column < self.columns {
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
