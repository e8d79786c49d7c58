//! How a block of the best transposes turns its tile: through the registers of its threads, four by four elements, and through
//! shared memory, in words of 16 bytes. [`crate::transpose`] says why.

use cuda_std::{mem, thread, unroll, vector::f32x4};

use crate::matrix::{at, block_row};
use crate::transpose::BEST_TILE;

/// What a block moves from where to where, and through what: a tile of `HEIGHT` rows and [`BEST_TILE`] columns, by four threads for each row.
/// In its functions, `WORDS` says whether the tile was loaded in words.
pub(crate) struct Turn<const HEIGHT: u32> {
    input: *const f32,
    output: *mut f32,
    /// The pitches of the input and the output, in elements.
    pub pitches: [u32; 2],
    /// The tile, column by column, in words of four rows.
    stage: *mut f32x4,
    rows: u32,
    cols: u32,
    row: u32,
    col: u32,
    /// The word of a row that the thread loads, and which four rows.
    x: u32,
    y: u32,
    /// The word of a column that it stores, and the first of its columns.
    word: u32,
    column: u32,
}

impl<const HEIGHT: u32> Turn<HEIGHT> {
    /// Words in a column of the tile.
    const COLUMN: u32 = HEIGHT / 4;

    /// What this block and this thread have to do. `stage` has room for the tile.
    #[inline(always)]
    pub fn of_block(
        input: *const f32,
        output: *mut f32,
        [rows, cols]: [u32; 2],
        pitches: [u32; 2],
        stage: *mut f32x4,
    ) -> Self {
        let (row, col) = (thread::block_idx_x() * HEIGHT, block_row() * BEST_TILE);
        let thread = thread::thread_idx_x();
        let (x, y) = (thread % 16, thread / 16);
        let (word, column) = (thread % Self::COLUMN, thread / Self::COLUMN);
        Self { input, output, pitches, stage, rows, cols, row, col, x, y, word, column }
    }

    /// Whether the tile is whole, as most are: then accesses need no guards.
    #[inline(always)]
    fn is_whole(&self) -> bool {
        self.row + HEIGHT <= self.rows && self.col + BEST_TILE <= self.cols
    }

    /// Where a column of the tile keeps a word of four rows. The lanes that come at once differ in `column / 4` where they load words, in
    /// `column` where they load floats.
    #[inline(always)]
    unsafe fn place<const WORDS: bool>(&self, column: u32, word: u32) -> *mut f32x4 {
        let order = if WORDS { column / 4 } else { column };
        // SAFETY: columns are below 64, and words below `COLUMN`, which is 8 or 16.
        unsafe { self.stage.add((Self::COLUMN * column) as usize + (word ^ (order & 7)) as usize) }
    }

    /// Turns what the thread has loaded, four columns of each of four rows, on its way to shared memory.
    #[inline(always)]
    unsafe fn keep<const WORDS: bool>(&self, rows: [[f32; 4]; 4], column: impl Fn(u32) -> u32) {
        unroll::<4>(|j| {
            let turned = f32x4::new(rows[0][j], rows[1][j], rows[2][j], rows[3][j]);
            // SAFETY: no other thread has this word.
            unsafe { *self.place::<WORDS>(column(j as u32), self.y) = turned };
        });
    }

    /// Brings the tile to shared memory in words: each thread one in each of four rows. A warp reads two rows at a time. What is beyond the
    /// matrix is read from its last row or word, so that no load has to be guarded; nobody stores it.
    #[inline(always)]
    pub unsafe fn load_words(&self) {
        let column = (self.col + 4 * self.x).min((self.cols - 1) / 4 * 4);
        let rows = [0, 1, 2, 3].map(|i| {
            let row = (self.row + 4 * self.y + i).min(self.rows - 1);
            let word = at(row, column, self.pitches[0]);
            // SAFETY: the input has the row, which may be read up to its pitch.
            unsafe { mem::load_cg(self.input.add(word).cast::<f32x4>()).to_array() }
        });
        // SAFETY: the columns are the thread's.
        unsafe { self.keep::<true>(rows, |j| 4 * self.x + j) };
    }

    /// The same float by float: each thread every sixteenth in each of four rows.
    #[inline(always)]
    pub unsafe fn load_floats(&self) {
        let column = |j: u32| self.x + 16 * j;
        let whole = self.is_whole();
        let rows = [0, 1, 2, 3].map(|i| {
            let row = self.row + 4 * self.y + i;
            let line = self.input.wrapping_add(at(row, self.col, self.pitches[0]));
            [0, 1, 2, 3].map(|j| {
                let inside = whole || (row < self.rows && self.col + column(j) < self.cols);
                // SAFETY: the input has the element.
                if inside { unsafe { mem::load_ca(line.add(column(j) as usize)) } } else { 0.0 }
            })
        });
        // SAFETY: the columns are the thread's.
        unsafe { self.keep::<false>(rows, column) };
    }

    /// Writes the tile's columns as rows, in words: each thread one in each of four rows. A warp writes two rows at a time, or four of small
    /// tiles.
    #[inline(always)]
    pub unsafe fn store_words<const WORDS: bool>(&self) {
        let (row, height) = (4 * self.word, self.rows - self.row);
        if row + 3 < height {
            unroll::<4>(|i| {
                let column = self.column + 16 * i as u32;
                if self.col + column < self.cols {
                    let to = at(self.col + column, self.row + row, self.pitches[1]);
                    // SAFETY: the output has the elements of the word.
                    unsafe { *self.output.add(to).cast() = *self.place::<WORDS>(column, self.word) };
                }
            });
        } else {
            // What does not fill a word.
            for row in row..height {
                // SAFETY: the output has the row.
                unsafe { self.store_floats_of_row::<WORDS>(row) };
            }
        }
    }

    /// The same float by float: each thread four in each of four rows.
    #[inline(always)]
    pub unsafe fn store_floats<const WORDS: bool>(&self) {
        unroll::<4>(|j| {
            let row = self.word + Self::COLUMN * j as u32;
            if self.row + row < self.rows {
                // SAFETY: the output has the row.
                unsafe { self.store_floats_of_row::<WORDS>(row) };
            }
        });
    }

    /// Writes the thread's four floats of a row of the tile.
    #[inline(always)]
    unsafe fn store_floats_of_row<const WORDS: bool>(&self, row: u32) {
        unroll::<4>(|i| {
            let column = self.column + 16 * i as u32;
            if self.col + column < self.cols {
                // SAFETY: the output has the element.
                unsafe {
                    let word = self.place::<WORDS>(column, row / 4).cast::<f32>();
                    let to = at(self.col + column, self.row + row, self.pitches[1]);
                    *self.output.add(to) = *word.add(row as usize % 4);
                }
            }
        });
    }
}
