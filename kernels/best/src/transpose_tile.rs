//! A tile of the best transposes: loads it into shared memory, and stores its columns as rows.
//! [`crate::transpose`] says why.

use cuda_std::{mem, thread, unroll, vector::f32x4};

use crate::matrix::at;

/// A block's tile of `SIDE` x `SIDE` floats, of which each thread moves eight: where it comes from,
/// where it goes, and its place in shared memory.
pub(crate) struct TransposeTile<const SIDE: u32> {
    input: *const f32,
    output: *mut f32,
    /// The pitches of the input and the output, in elements.
    pitches: [u32; 2],
    /// The tile in shared memory, in rows of `SIDE + 1` floats.
    stage: *mut f32,
    rows: u32,
    cols: u32,
    row: u32,
    col: u32,
    thread: u32,
}

impl<const SIDE: u32> TransposeTile<SIDE> {
    /// The tile in this row and this column of tiles. `stage` has room for it.
    #[inline(always)]
    pub fn new(
        [row, col]: [u32; 2],
        input: *const f32,
        output: *mut f32,
        [rows, cols]: [u32; 2],
        pitches: [u32; 2],
        stage: *mut f32,
    ) -> Self {
        let (row, col) = (row * SIDE, col * SIDE);
        Self { input, output, pitches, stage, rows, cols, row, col, thread: thread::thread_idx_x() }
    }

    /// A float of the tile.
    ///
    /// # Safety
    /// The tile has the row and the column.
    #[inline(always)]
    unsafe fn place(&self, row: u32, column: u32) -> *mut f32 {
        // SAFETY: the tile has the row and the column.
        unsafe { self.stage.add((row * (SIDE + 1) + column) as usize) }
    }

    /// Loads the tile into shared memory in words, each thread two, half a tile apart. What is
    /// beyond the matrix is read from its last row or word, so that no load needs a guard; it is
    /// not stored.
    ///
    /// # Safety
    /// The input holds the matrix, its pitch is a multiple of 4, and its rows may be read up to
    /// there. The block has a thread for each eight floats of the tile.
    #[inline(always)]
    pub unsafe fn load_words(&self, load: impl Fn(*const f32x4) -> f32x4) {
        let (x, first) = (self.thread % (SIDE / 4) * 4, self.thread / (SIDE / 4));
        let rows = [0, SIDE / 2].map(|half| first + half);
        let column = (self.col + x).min((self.cols - 1) / 4 * 4);
        let words = rows.map(|row| {
            let word = at((self.row + row).min(self.rows - 1), column, self.pitches[0]);
            // SAFETY: the input has the row, which may be read up to its pitch.
            load(unsafe { self.input.add(word).cast() }).to_array()
        });
        unroll::<2>(|i| {
            // SAFETY: the tile has these floats, which are this thread's.
            unroll::<4>(|j| unsafe { *self.place(rows[i], x + j as u32) = words[i][j] });
        });
    }

    /// The same float by float: a warp loads eight pieces of 32 floats, those of a row one after
    /// the other.
    ///
    /// # Safety
    /// As for [`TransposeTile::load_words`], with any pitch.
    #[inline(always)]
    pub unsafe fn load_floats(&self, load: impl Fn(*const f32) -> f32) {
        let (warp, lane) = (self.thread / 32, self.thread % 32);
        let places = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| {
            let piece = 8 * warp + i;
            [piece / (SIDE / 32), piece % (SIDE / 32) * 32 + lane]
        });
        let floats = places.map(|[row, column]| {
            let (row, column) =
                ((self.row + row).min(self.rows - 1), (self.col + column).min(self.cols - 1));
            // SAFETY: the input has the element.
            load(unsafe { self.input.add(at(row, column, self.pitches[0])) })
        });
        // SAFETY: the tile has these floats, which are this thread's.
        unroll::<8>(|i| unsafe { *self.place(places[i][0], places[i][1]) = floats[i] });
    }

    /// Writes the tile's columns as rows, in words, each thread two.
    ///
    /// # Safety
    /// The tile is complete, and a barrier has followed. The output has room for the transposed
    /// matrix, its pitch is a multiple of 4, and nothing else uses it.
    #[inline(always)]
    pub unsafe fn store_words(&self) {
        let (row, first) = (self.thread % (SIDE / 4) * 4, self.thread / (SIDE / 4));
        let height = self.rows - self.row;
        let columns = [0, SIDE / 2].map(|half| first + half);
        // SAFETY: the tile is complete, and the output has the elements.
        unsafe {
            if row + 3 < height {
                let words =
                    columns.map(|column| [0, 1, 2, 3].map(|k| *self.place(row + k, column)));
                unroll::<2>(|i| {
                    let [x, y, z, w] = words[i];
                    if self.col + columns[i] < self.cols {
                        mem::store_l2_evict_last(
                            self.target(row, columns[i]).cast(),
                            f32x4::new(x, y, z, w),
                        );
                    }
                });
                return;
            }
            // What does not fill a word: up to three rows of both columns.
            unroll::<6>(|k| {
                let (row, column) = (row + k as u32 / 2, columns[k % 2]);
                if row < height && self.col + column < self.cols {
                    *self.target(row, column) = *self.place(row, column);
                }
            });
        }
    }

    /// The same float by float, each thread eight of a row of the tile.
    ///
    /// # Safety
    /// As for [`TransposeTile::store_words`], with any pitch.
    #[inline(always)]
    pub unsafe fn store_floats(&self) {
        let (row, first) = (self.thread % SIDE, self.thread / SIDE);
        if self.row + row >= self.rows {
            return;
        }
        unroll::<8>(|i| {
            let column = first + SIDE / 8 * i as u32;
            if self.col + column < self.cols {
                // SAFETY: the tile is complete, and the output has the element.
                unsafe { *self.target(row, column) = *self.place(row, column) };
            }
        });
    }

    /// Where in the output a float of the tile belongs.
    ///
    /// # Safety
    /// The output has the element.
    #[inline(always)]
    unsafe fn target(&self, row: u32, column: u32) -> *mut f32 {
        // SAFETY: the output has the element.
        unsafe { self.output.add(at(self.col + column, self.row + row, self.pitches[1])) }
    }
}
