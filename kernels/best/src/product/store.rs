//! Stores a tile's sums to global memory.

use cuda_std::{unroll, vector::f32x4};

use super::before::{self as words_of, Before, WORDS};
use super::numbers::Sums;
use super::window::Window;
use super::{Operand, SIDE, Tile};
use crate::matrix::Matrix;

impl<L: Operand, R: Operand, const O: usize> Tile<L, R, O> {
    /// Stores `scale` times the sums to the tile of `c`.
    ///
    /// # Safety
    /// `c` has the shape of the product, starts on 16 bytes, and nothing else uses the tile
    /// meanwhile.
    #[inline(always)]
    pub unsafe fn store(&self, c: Matrix, sums: &Sums, scale: f32) {
        if !Self::has_sums() {
            return;
        }
        let (row, column) = Self::thread();
        unroll::<{ SIDE * WORDS }>(|n| {
            let (i, word) = (n / WORDS, n % WORDS);
            let row = self.computed_row + row + (i % 4 + i / 4 * 32) as u32;
            let column = self.computed_column + column + 16 * word as u32;
            let window = Window { row: self.stored_row, column: self.stored_column, matrix: c };
            // SAFETY: nothing else uses the tile of C.
            unsafe { window.store(row, column, words_of::word(sums, n) * f32x4::splat(scale)) };
        });
    }

    /// Stores them with the sums before.
    ///
    /// # Safety
    /// As for [`Tile::store`]. The sums before are there.
    #[inline(always)]
    pub unsafe fn store_with(&self, c: Matrix, sums: &Sums, scale: f32, before: Before) {
        if !Self::has_sums() {
            return;
        }
        let (row, column) = Self::thread();
        let window = Window { row: self.stored_row, column: self.stored_column, matrix: c };
        let store = |n, values| {
            let (i, word) = (n / WORDS, n % WORDS);
            let row = self.computed_row + row + (i % 4 + i / 4 * 32) as u32;
            // SAFETY: nothing else uses the tile of C.
            unsafe { window.store(row, self.computed_column + column + 16 * word as u32, values) };
        };
        // SAFETY: `add_to` asks for the sums before only if they are there.
        before.add_to(
            scale,
            |n| words_of::word(sums, n),
            |before, n| unsafe { before.word(n) },
            store,
        );
    }

    /// Stores these to the mirrored tile of a symmetric `c`: the columns as rows.
    ///
    /// # Safety
    /// As for [`Tile::store_with`].
    #[inline(always)]
    pub unsafe fn store_mirrored_with(&self, c: Matrix, sums: &Sums, scale: f32, before: Before) {
        if !Self::has_sums() {
            return;
        }
        let (row, column) = Self::thread();
        let window = Window { row: self.stored_column, column: self.stored_row, matrix: c };
        let store = |n, values| {
            let (j, half) = (n / WORDS, n % WORDS);
            let column = self.computed_column + column + (16 * (j / 4) + j % 4) as u32;
            // SAFETY: nothing else uses the tile of C.
            unsafe { window.store(column, self.computed_row + row + 32 * half as u32, values) };
        };
        // SAFETY: `add_to` asks for the sums before only if they are there.
        before.add_to(
            scale,
            |n| words_of::mirrored_word(sums, n),
            |before, n| unsafe { before.mirrored_word(n) },
            store,
        );
    }
}
