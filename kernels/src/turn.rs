//! What the best transposes do with a tile: bring it to shared memory, and take it from there turned. [`crate::transpose`] says why.

use cuda_std::{mem, thread, unroll, vector::f32x4};

use crate::matrix::{at, block_row};
use crate::transpose::BEST_TILE;

/// A row of the tile, with the float of padding.
pub(crate) type Row = [f32; BEST_TILE as usize + 1];

/// What a block moves from where to where, and through what: a tile of `HEIGHT` rows and [`BEST_TILE`] columns, by eight threads for each row.
pub(crate) struct Turn<const HEIGHT: u32> {
    input: *const f32,
    output: *mut f32,
    /// The pitches of the input and the output, in elements.
    pitches: [u32; 2],
    /// The tile in shared memory.
    stage: *mut Row,
    rows: u32,
    cols: u32,
    row: u32,
    col: u32,
    thread: u32,
}

impl<const HEIGHT: u32> Turn<HEIGHT> {
    /// What this block has to do. `stage` has room for its tile.
    #[inline(always)]
    pub fn of_block(
        input: *const f32,
        output: *mut f32,
        [rows, cols]: [u32; 2],
        pitches: [u32; 2],
        stage: *mut Row,
    ) -> Self {
        let (row, col) = (thread::block_idx_x() * HEIGHT, block_row() * BEST_TILE);
        Self { input, output, pitches, stage, rows, cols, row, col, thread: thread::thread_idx_x() }
    }

    /// A float of the tile.
    #[inline(always)]
    unsafe fn place(&self, row: u32, column: u32) -> *mut f32 {
        // SAFETY: the tile has the row and the column.
        unsafe { self.stage.add(row as usize).cast::<f32>().add(column as usize) }
    }

    /// Brings the tile to shared memory in words, each thread two, half a tile apart. A warp reads two rows at a time. What is beyond the matrix
    /// is read from its last row or word, so that no load has to be guarded; nobody stores it.
    #[inline(always)]
    pub unsafe fn load_words(&self, load: impl Fn(*const f32x4) -> f32x4) {
        let (x, rows) = (4 * (self.thread % 16), [0, HEIGHT / 2].map(|half| self.thread / 16 + half));
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

    /// The same float by float, eight of a column. Neighbouring tiles share the first and last lines of a row, so each load asks L2 for the bytes
    /// around it.
    #[inline(always)]
    pub unsafe fn load_floats(&self) {
        let (column, first) = (self.thread % BEST_TILE, self.thread / BEST_TILE);
        let rows = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| first + HEIGHT / 8 * i);
        let floats = rows.map(|row| {
            let inside = self.row + row < self.rows && self.col + column < self.cols;
            let float = at(self.row + row, self.col + column, self.pitches[0]);
            // SAFETY: the input has the element.
            if inside { unsafe { mem::load_prefetch(self.input.add(float)) } } else { 0.0 }
        });
        // SAFETY: the tile has these floats, which are this thread's.
        unroll::<8>(|i| unsafe { *self.place(rows[i], column) = floats[i] });
    }

    /// Writes the tile's columns as rows, in words, each thread two. A warp writes two rows at a time, or four of small tiles.
    #[inline(always)]
    pub unsafe fn store_words(&self, store: impl Fn(*mut f32x4, f32x4)) {
        let (row, first) = (self.thread % (HEIGHT / 4) * 4, self.thread / (HEIGHT / 4));
        let height = self.rows - self.row;
        let columns = [0, BEST_TILE / 2].map(|half| first + half);
        // SAFETY: the tile is complete, and the output has the elements.
        unsafe {
            if row + 3 < height {
                let words = columns.map(|column| [0, 1, 2, 3].map(|k| *self.place(row + k, column)));
                unroll::<2>(|i| {
                    let [x, y, z, w] = words[i];
                    if self.col + columns[i] < self.cols {
                        store(self.target(row, columns[i]).cast(), f32x4::new(x, y, z, w));
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
    #[inline(always)]
    pub unsafe fn store_floats(&self) {
        let (row, first) = (self.thread % HEIGHT, self.thread / HEIGHT);
        unroll::<8>(|i| {
            let column = first + BEST_TILE / 8 * i as u32;
            if self.row + row < self.rows && self.col + column < self.cols {
                // SAFETY: the tile is complete, and the output has the element.
                unsafe { *self.target(row, column) = *self.place(row, column) };
            }
        });
    }

    /// Where in the output a float of the tile belongs.
    #[inline(always)]
    unsafe fn target(&self, row: u32, column: u32) -> *mut f32 {
        // SAFETY: the output has the element.
        unsafe { self.output.add(at(self.col + column, self.row + row, self.pitches[1])) }
    }
}
