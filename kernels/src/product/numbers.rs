//! The numbers in a thread's registers, and the order in which they are multiplied.

use cuda_std::{GpuFloat, unroll, vector::f32x4};

use super::Operand;

/// The numbers that a thread multiplies in one step and in the next.
pub(super) struct Numbers<const WIDE: usize> {
    pub rows: [[f32; 8]; 2],
    pub columns: [[f32; WIDE]; 2],
}

impl<const WIDE: usize> Numbers<WIDE> {
    /// Loads those of a step.
    ///
    /// # Safety
    /// The words are those of [`Tile::words`], and there.
    #[inline(always)]
    pub unsafe fn load<L: Operand, R: Operand>(&mut self, [left, right]: [*const f32x4; 2], step: usize) {
        // SAFETY: the caller says so.
        unsafe {
            unroll::<2>(|word| {
                let four = (*left.add(step * L::PITCH as usize / 4 + 8 * word)).to_array();
                unroll::<4>(|e| self.rows[step % 2][4 * word + e] = four[e]);
            });
            unroll_words::<WIDE>(|word| {
                let four = (*right.add(step * R::PITCH as usize / 4 + 4 * word)).to_array();
                unroll::<4>(|e| self.columns[step % 2][4 * word + e] = four[e]);
            });
        }
    }

    /// Multiplies each row's number with each column's, so that each multiplication has a number in common with the one before.
    ///
    /// Of the orders that were tried, these two left the assembler with the fewest conflicts: for tiles with all warps side by side,
    /// two rows at a time; for those in slices, column by column, and the rows forth and back.
    #[inline(always)]
    pub fn multiply(&self, step: usize, in_slices: bool, sums: &mut [[f32; WIDE]; 8]) {
        const ROWS: [usize; 8] = [6, 0, 2, 4, 1, 7, 5, 3];
        let (rows, columns) = (&self.rows[step % 2], &self.columns[step % 2]);
        let mut multiply = |i: usize, j: usize| sums[i][j] = GpuFloat::mul_add(rows[i], columns[j], sums[i][j]);
        if in_slices {
            unroll::<16>(|j| {
                if j < WIDE {
                    unroll::<8>(|i| multiply(ROWS[if j % 2 == 0 { i } else { 7 - i }], j));
                }
            });
        } else {
            unroll::<4>(|pair| {
                unroll::<16>(|j| {
                    if j < WIDE {
                        unroll::<2>(|i| multiply(2 * pair + (i + j + pair) % 2, j));
                    }
                });
            });
        }
    }
}

/// Calls `visit` with the number of each word of four in a row of `WIDE`.
#[inline(always)]
pub(super) fn unroll_words<const WIDE: usize>(mut visit: impl FnMut(usize)) {
    unroll::<4>(|word| {
        if word < WIDE / 4 {
            visit(word);
        }
    });
}
