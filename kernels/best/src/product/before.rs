//! The sums that another block has left, and how a thread adds its own to them: word by word, in
//! the order of rows, or of columns for a mirrored tile.

use cuda_std::{unroll, vector::f32x4};

use super::numbers::Sums;
use super::{SIDE, THREADS};

/// Words of 16 bytes in a row of a thread's sums.
pub(super) const WORDS: usize = SIDE / 4;

/// Words of all its sums.
const ALL_WORDS: usize = SIDE * WORDS;

/// The sums of a tile's slabs before a piece, if there are any.
#[derive(Clone, Copy)]
pub(crate) struct Before {
    /// This thread's first word. Its words are [`THREADS`] words apart.
    pub words: *const f32x4,
    /// Whether there are any.
    pub any: bool,
}

impl Before {
    /// Adds the sums before to `scale` times a thread's words, and passes them on: half of them at
    /// a time, so that one load does not wait for the other.
    ///
    /// `scale` is BLAS's `alpha`. A word of 16 bytes is stored from four consecutive registers. The
    /// sums may be anywhere, because the multiplication with `scale` copies them: so the assembler
    /// can choose banks that suit the multiplications.
    #[inline(always)]
    pub fn add_to(
        self,
        scale: f32,
        own: impl Fn(usize) -> f32x4,
        before: impl Fn(Self, usize) -> f32x4,
        store: impl Fn(usize, f32x4),
    ) {
        const TOGETHER: usize = ALL_WORDS / 2;
        unroll::<2>(|half| {
            let mut words = [f32x4::splat(0.0); TOGETHER];
            if self.any {
                unroll::<TOGETHER>(|n| words[n] = before(self, half * TOGETHER + n));
            }
            unroll::<TOGETHER>(|n| {
                let own = own(half * TOGETHER + n) * f32x4::splat(scale);
                store(half * TOGETHER + n, words[n] + own);
            });
        });
    }

    /// Four neighbours of a row, as [`word`] numbers them.
    ///
    /// # Safety
    /// They are there.
    #[inline(always)]
    pub unsafe fn word(self, n: usize) -> f32x4 {
        // SAFETY: `words` has a word of this number for each thread, and it has been written.
        unsafe { *self.words.add(n * THREADS as usize) }
    }

    /// Four neighbours of a column, as [`mirrored_word`] numbers them.
    ///
    /// # Safety
    /// They are there.
    #[inline(always)]
    pub unsafe fn mirrored_word(self, n: usize) -> f32x4 {
        let (rows, column) = mirrored(n);
        // SAFETY: `words` has all words of each thread, and they have been written.
        let [x, y, z, w] = rows.map(|row| unsafe {
            let word = self.words.add((row * WORDS + column / 4) * THREADS as usize);
            *word.cast::<f32>().add(column % 4)
        });
        f32x4::new(x, y, z, w)
    }
}

/// A thread's word `n`: four neighbours of a row of its sums.
#[inline(always)]
pub(super) fn word(sums: &Sums, n: usize) -> f32x4 {
    let row = &sums[n / WORDS][n % WORDS * 4..];
    f32x4::new(row[0], row[1], row[2], row[3])
}

/// Its word `n` of the mirrored tile: four neighbours of a column.
#[inline(always)]
pub(super) fn mirrored_word(sums: &Sums, n: usize) -> f32x4 {
    let (rows, column) = mirrored(n);
    let [x, y, z, w] = rows.map(|row| sums[row][column]);
    f32x4::new(x, y, z, w)
}

/// The rows and the column of a word of the mirrored tile.
#[inline(always)]
fn mirrored(n: usize) -> ([usize; 4], usize) {
    let (column, half) = (n / WORDS, n % WORDS);
    ([0, 1, 2, 3].map(|row| 4 * half + row), column)
}
