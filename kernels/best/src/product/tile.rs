//! A block's tile of the product: the loop over the slabs, and the way of the sums to global memory.

use core::marker::PhantomData;

use cuda_std::{pipeline, shared, shared::SharedAddress, thread, unroll, vector::f32x4};

use super::numbers::{Numbers, Sums};
use super::share::{self, Before, Piece, Product, WORDS};
use super::{DEPTH, Operand, SIDE, STAGES, THREADS};
use crate::matrix::Matrix;

/// Rows of the tile that a warp computes: its lanes are 8 down and 4 across, and each has 8 rows.
const WARP_ROWS: u32 = 64;

/// How a block shares out the tile of `L` and `R` among its threads, of which each has
/// [`SIDE`] rows and columns.
pub(crate) struct Tile<L, R, const O: usize> {
    operands: PhantomData<(L, R)>,
    /// The first row that the block stores.
    stored_row: u32,
    /// The first column that it stores.
    stored_column: u32,
    /// The first row that it computes: the same, or further up at the matrix's edge.
    computed_row: u32,
    /// The first column that it computes: the same, or further left at the edge.
    computed_column: u32,
}

impl<L: Operand, R: Operand, const O: usize> Tile<L, R, O> {
    /// Warps down the tile, across it, and in slices: where there are more warps than the tile has room for, they share the steps
    /// of each slab.
    const DOWN: u32 = L::SIDE / WARP_ROWS;
    const ACROSS: u32 = R::SIDE / (4 * SIDE as u32);
    const SLICES: u32 = THREADS / 32 / (Self::DOWN * Self::ACROSS);
    /// Steps of a slab that a warp takes.
    const STEPS: u32 = DEPTH / Self::SLICES;
    /// Floats of a stage: a slab of either operand.
    const STAGE: u32 = DEPTH * (L::PITCH + R::PITCH);

    /// The tile in row `down` and column `across` of tiles of a product of `rows` x `columns`, which is at least as large as a tile.
    #[inline(always)]
    pub fn new(down: u32, across: u32, rows: u32, columns: u32) -> Self {
        let (stored_row, stored_column) = (down * L::SIDE, across * R::SIDE);
        // An operand that is copied in words of 16 bytes may be read up to its pitch, so its tile may reach into the padding. Nobody stores that.
        let computed_column = stored_column.min((columns - R::SIDE).next_multiple_of(R::WORD));
        let computed_row = stored_row.min((rows - L::SIDE).next_multiple_of(L::WORD));
        Self { operands: PhantomData, stored_row, stored_column, computed_row, computed_column }
    }

    /// The warp's place: down, across, and its slice.
    #[inline(always)]
    fn warp() -> (u32, u32, u32) {
        let warp = thread::thread_idx_x() / 32;
        (warp % Self::DOWN, warp / Self::DOWN % Self::ACROSS, warp / (Self::DOWN * Self::ACROSS))
    }

    /// The first of the thread's rows and of its columns in the tile. It has four rows from there and four 32 further down; and
    /// every fourth group of four columns. Lanes 0, 2, 4, ... go down, so that a load of 16 bytes a lane takes two wavefronts at most.
    #[inline(always)]
    fn thread() -> (u32, u32) {
        let (lane, (down, across, _)) = (thread::thread_idx_x() % 32, Self::warp());
        (down * WARP_ROWS + lane / 2 % 8 * 4, across * 4 * SIDE as u32 + (lane % 2 + lane / 16 * 2) * 4)
    }

    /// The sums of this thread's elements, over the slabs of `piece`.
    ///
    /// # Safety
    /// The operands have `k` steps and a whole tile each; nothing writes them meanwhile. The block has [`THREADS`] threads and
    /// [`shared_bytes`](super::shared_bytes) of dynamic shared memory.
    #[inline(always)]
    pub unsafe fn sums(&self, product: Product, piece: Piece) -> Sums {
        let Product { left, right, .. } = product;
        let memory = shared::dynamic_shared_mem::<f32>();
        let to = SharedAddress::of(memory);
        let slabs = piece.end - piece.first;
        let Piece { first_step, first_steps, .. } = piece;
        let mut left = L::new(left, self.computed_row, first_step, to);
        let mut right = R::new(right, self.computed_column, first_step, to.add(DEPTH * L::PITCH));

        // SAFETY: slabs below `slabs` are in the operands, and stages below `STAGES` in shared memory. A stage is filled again
        // behind the barrier that follows its last use.
        unsafe {
            left.fetch_part(0, first_steps);
            right.fetch_part(0, first_steps);
            pipeline::commit();
            let mut fetched = 1;
            let mut filling = 1;
            let mut fetch = || {
                if fetched < slabs {
                    left.fetch(filling * Self::STAGE);
                    right.fetch(filling * Self::STAGE);
                }
                pipeline::commit();
                fetched += 1;
                filling = if filling + 1 == STAGES { 0 } else { filling + 1 };
            };
            for _ in 2..STAGES {
                fetch();
            }
            pipeline::wait_prior::<{ STAGES - 2 }>();
            thread::sync_threads();

            let mut sums = [[0.0; SIDE]; SIDE];
            let mut stage = 0;
            let mut words = Self::words(memory, stage);
            let mut numbers = Numbers::first::<L, R>(words);
            for slab in 0..slabs {
                fetch();
                unroll::<{ DEPTH as usize }>(|step| {
                    if step >= Self::STEPS as usize {
                        return;
                    }
                    let mut next = step + 1;
                    if next == Self::STEPS as usize {
                        pipeline::wait_prior::<{ STAGES - 2 }>();
                        thread::sync_threads();
                        // After the last slab the numbers go to waste, but somebody wrote them.
                        if slab + 1 < slabs {
                            stage = if stage + 1 == STAGES { 0 } else { stage + 1 };
                        }
                        words = Self::words(memory, stage);
                        next = 0;
                    }
                    if Self::SLICES == 1 {
                        numbers.multiply_and_load::<L, R, O>(step, words, next, &mut sums);
                    } else {
                        numbers.load::<L, R>(words, next);
                        numbers.multiply::<O>(step, &mut sums);
                    }
                });
            }
            if Self::SLICES > 1 {
                Self::add_slices(memory, &mut sums);
            }
            sums
        }
    }

    /// Where the thread's numbers start in a stage, of the left and of the right operand.
    ///
    /// # Safety
    /// `memory` is that of [`Tile::sums`].
    #[inline(always)]
    unsafe fn words(memory: *const f32, stage: u32) -> [*const f32x4; 2] {
        let (row, column) = Self::thread();
        let (_, _, slice) = Self::warp();
        let step = slice * Self::STEPS;
        let left = stage * Self::STAGE + step * L::PITCH + row;
        let right = stage * Self::STAGE + DEPTH * L::PITCH + step * R::PITCH + column;
        // SAFETY: the caller says so.
        [left, right].map(|word| unsafe { memory.add(word as usize).cast() })
    }

    /// Adds the second slice's sums to those of the first, in shared memory.
    ///
    /// # Safety
    /// `memory` is that of [`Tile::sums`]; there are two slices, and their sums take no more than the stages.
    #[inline(always)]
    unsafe fn add_slices(memory: *mut f32, sums: &mut Sums) {
        let (_, _, slice) = Self::warp();
        let threads = THREADS / Self::SLICES;
        let place = |i: usize, word: usize| {
            let word = (i * WORDS + word) * threads as usize + (thread::thread_idx_x() % threads) as usize;
            // SAFETY: the caller says so.
            unsafe { memory.cast::<f32x4>().add(word) }
        };
        pipeline::wait_prior::<0>();
        thread::sync_threads();
        // SAFETY: each thread has places of its own until the barrier, and the first slice reads them behind it.
        unsafe {
            if slice == 1 {
                unroll::<8>(|i| unroll::<WORDS>(|word| *place(i, word) = share::word(sums, i * WORDS + word)));
            }
            thread::sync_threads();
            if slice == 0 {
                unroll::<8>(|i| {
                    unroll::<WORDS>(|word| {
                        let others = (*place(i, word)).to_array();
                        unroll::<4>(|e| sums[i][4 * word + e] += others[e]);
                    });
                });
            }
        }
    }

    /// Whether this thread's sums are of the whole slabs.
    #[inline(always)]
    pub fn has_sums() -> bool {
        let (_, _, slice) = Self::warp();
        slice == 0
    }

    /// Stores `scale` times the sums to the tile of `c`.
    ///
    /// # Safety
    /// `c` has the shape of the product, starts on 16 bytes, and nothing else uses the tile meanwhile.
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
            // SAFETY: as the caller says.
            unsafe { window.store(row, column, share::word(sums, n) * f32x4::splat(scale)) };
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
            // SAFETY: as the caller says.
            unsafe { window.store(row, self.computed_column + column + 16 * word as u32, values) };
        };
        // SAFETY: as the caller says.
        before.add_to(scale, |n| share::word(sums, n), |before, n| unsafe { before.word(n) }, store);
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
            // SAFETY: as the caller says.
            unsafe { window.store(column, self.computed_row + row + 32 * half as u32, values) };
        };
        // SAFETY: as the caller says.
        before.add_to(scale, |n| share::turned_word(sums, n), |before, n| unsafe { before.turned_word(n) }, store);
    }
}

/// The part of a matrix from a row and a column on.
struct Window {
    row: u32,
    column: u32,
    matrix: Matrix,
}

impl Window {
    /// Writes four neighbours of a row, as far as they are in the window.
    ///
    /// # Safety
    /// Nothing else uses them meanwhile.
    #[inline(always)]
    unsafe fn store(&self, row: u32, column: u32, values: f32x4) {
        let Matrix { rows, columns, pitch, .. } = self.matrix;
        let place = self.matrix.at(row, column);
        if row < self.row || row >= rows {
            return;
        }
        // SAFETY: each element is in the matrix.
        unsafe {
            if column >= self.column && column + 4 <= columns && (pitch | column).is_multiple_of(4) {
                *place.cast() = values;
            } else {
                let values = values.to_array();
                unroll::<4>(|e| {
                    let column = column + e as u32;
                    if column >= self.column && column < columns {
                        *place.add(e) = values[e];
                    }
                });
            }
        }
    }
}
