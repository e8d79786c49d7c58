//! The numbers in a thread's registers, and the order in which they are multiplied.

use cuda_std::{GpuFloat, unroll, vector::f32x4};

use super::orders::ORDERS;
use super::{Operand, SIDE};

/// The sums of a thread: a row of the product in each.
pub(crate) type Sums = [[f32; SIDE]; SIDE];

/// Words of 16 bytes that a thread takes in each step: two of rows, then two of columns.
const WORDS: usize = 4;

/// The numbers that a thread multiplies in one step and in the next.
pub(super) struct Numbers {
    rows: [[f32; SIDE]; 2],
    columns: [[f32; SIDE]; 2],
}

impl Numbers {
    /// Those of the first step.
    ///
    /// # Safety
    /// The words are those of `Tile::words`, and there.
    #[inline(always)]
    pub unsafe fn first<L: Operand, R: Operand>(words: [*const f32x4; 2]) -> Self {
        let mut numbers = Self { rows: [[0.0; SIDE]; 2], columns: [[0.0; SIDE]; 2] };
        // SAFETY: the stage has the words of each of its steps, and they are there.
        unsafe { numbers.load::<L, R>(words, 0) };
        numbers
    }

    /// Loads those of a step.
    ///
    /// # Safety
    /// As for [`Numbers::first`].
    #[inline(always)]
    pub unsafe fn load<L: Operand, R: Operand>(&mut self, words: [*const f32x4; 2], step: usize) {
        // SAFETY: the stage has the words of each of its steps, and they are there.
        unroll::<WORDS>(|word| unsafe { self.load_word::<L, R>(words, step, word) });
    }

    /// Loads one of the words of a step.
    ///
    /// # Safety
    /// As for [`Numbers::first`].
    #[inline(always)]
    unsafe fn load_word<L: Operand, R: Operand>(
        &mut self,
        [left, right]: [*const f32x4; 2],
        step: usize,
        word: usize,
    ) {
        let half = word % 2;
        // SAFETY: the stage has the words of each of its steps, and they are there.
        let (numbers, word) = unsafe {
            if word < 2 {
                (&mut self.rows[step % 2], *left.add(step * L::PITCH as usize / 4 + 8 * half))
            } else {
                (&mut self.columns[step % 2], *right.add(step * R::PITCH as usize / 4 + 4 * half))
            }
        };
        let word = word.to_array();
        unroll::<4>(|e| numbers[4 * half + e] = word[e]);
    }

    /// Multiplies each row's number of a step with each column's, and loads those of the `next`
    /// step meanwhile: one word before each quarter of the multiplications.
    ///
    /// Row by row, forth and back over four columns, then up again over the other four: so each
    /// multiplication has a number in common with the one before. Rows and columns are taken in the
    /// order `O` of [`ORDERS`].
    ///
    /// # Safety
    /// As for [`Numbers::first`].
    #[inline(always)]
    pub unsafe fn multiply_and_load<L: Operand, R: Operand, const O: usize>(
        &mut self,
        step: usize,
        words: [*const f32x4; 2],
        next: usize,
        sums: &mut Sums,
    ) {
        let [rows, columns] = ORDERS[O];
        unroll::<2>(|half| {
            unroll::<SIDE>(|row| {
                if row % 4 == 0 {
                    // SAFETY: the stage has the words of each of its steps, and they are there.
                    unsafe { self.load_word::<L, R>(words, next, 2 * half + row / 4) };
                }
                let i = rows[if half == 0 { row } else { SIDE - 1 - row }];
                unroll::<4>(|e| {
                    let j = columns[4 * half + if row % 2 == 0 { e } else { 3 - e }];
                    self.multiply_one(step, i, j, sums);
                });
            });
        });
    }

    /// The same without loads, column by column, forth and back over the rows: what suits tiles in
    /// slices best.
    #[inline(always)]
    pub fn multiply<const O: usize>(&self, step: usize, sums: &mut Sums) {
        let [rows, columns] = ORDERS[O];
        unroll::<SIDE>(|column| {
            unroll::<SIDE>(|row| {
                let i = rows[if column % 2 == 0 { row } else { SIDE - 1 - row }];
                self.multiply_one(step, i, columns[column], sums);
            });
        });
    }

    #[inline(always)]
    fn multiply_one(&self, step: usize, i: usize, j: usize, sums: &mut Sums) {
        sums[i][j] =
            GpuFloat::mul_add(self.rows[step % 2][i], self.columns[step % 2][j], sums[i][j]);
    }
}
