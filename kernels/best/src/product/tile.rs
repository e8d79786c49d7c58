//! A block's tile of the product: the loop over the slabs, and the sums.

use core::marker::PhantomData;

use cuda_std::{pipeline, shared, shared::SharedAddress, thread, unroll, vector::f32x4};

use super::before::{self as words_of, WORDS};
use super::numbers::{Numbers, Sums};
use super::share::{Piece, Product};
use super::{DEPTH, Operand, SIDE, STAGES, THREADS};

/// Rows of the tile that a warp computes: its lanes are 8 down and 4 across, and each has 8 rows.
const WARP_ROWS: u32 = 64;

/// How a block shares out the tile of `L` and `R` among its threads, of which each has [`SIDE`]
/// rows and columns.
pub(crate) struct Tile<L, R, const O: usize> {
    operands: PhantomData<(L, R)>,
    /// The first row that the block stores.
    pub(super) stored_row: u32,
    /// The first column that it stores.
    pub(super) stored_column: u32,
    /// The first row that it computes: the same, or further up at the matrix's edge.
    pub(super) computed_row: u32,
    /// The first column that it computes: the same, or further left at the edge.
    pub(super) computed_column: u32,
}

impl<L: Operand, R: Operand, const O: usize> Tile<L, R, O> {
    /// Warps down the tile, across it, and in slices: where the tile has no room for all warps,
    /// they share the steps of each slab.
    const DOWN: u32 = L::SIDE / WARP_ROWS;
    const ACROSS: u32 = R::SIDE / (4 * SIDE as u32);
    const SLICES: u32 = THREADS / 32 / (Self::DOWN * Self::ACROSS);
    /// Steps of a slab that a warp takes.
    const STEPS: u32 = DEPTH / Self::SLICES;
    /// Floats of a stage: a slab of either operand.
    const STAGE: u32 = DEPTH * (L::PITCH + R::PITCH);

    /// The tile in row `down` and column `across` of tiles of a product of `rows` x `columns`,
    /// which is at least as large as a tile.
    #[inline(always)]
    pub fn new(down: u32, across: u32, rows: u32, columns: u32) -> Self {
        let (stored_row, stored_column) = (down * L::SIDE, across * R::SIDE);
        // An operand that is copied in words of 16 bytes may be read up to its pitch, so its tile
        // may reach into the padding, which is never stored.
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

    /// The first of the thread's rows and of its columns in the tile. It has four rows from there
    /// and four 32 further down; and every fourth group of four columns. Lanes 0, 2, 4, ... go
    /// down, so that a load of 16 bytes a lane takes two wavefronts at most.
    #[inline(always)]
    pub(super) fn thread() -> (u32, u32) {
        let (lane, (down, across, _)) = (thread::thread_idx_x() % 32, Self::warp());
        (
            down * WARP_ROWS + lane / 2 % 8 * 4,
            across * 4 * SIDE as u32 + (lane % 2 + lane / 16 * 2) * 4,
        )
    }

    /// The sums of this thread's elements, over the slabs of `piece`.
    ///
    /// # Safety
    /// The operands have `k` steps and a full tile each; nothing writes them meanwhile. The block
    /// has [`THREADS`] threads and [`shared_bytes`](super::shared_bytes) of dynamic shared memory.
    #[inline(always)]
    pub unsafe fn sums(&self, product: Product, piece: Piece) -> Sums {
        let Product { left, right, .. } = product;
        let memory = shared::dynamic_shared_mem::<f32>();
        let to = SharedAddress::of(memory);
        let slabs = piece.end - piece.first;
        let Piece { first_step, first_steps, .. } = piece;
        let mut left = L::new(left, self.computed_row, first_step, to);
        let mut right = R::new(right, self.computed_column, first_step, to.add(DEPTH * L::PITCH));

        // SAFETY: slabs below `slabs` are in the operands, and stages below `STAGES` in shared
        // memory. A stage is filled again after the barrier that follows its last use.
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
                        // After the last slab the numbers are not used, but they have been written.
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
        // SAFETY: the memory has STAGES stages, and the words are within one.
        [left, right].map(|word| unsafe { memory.add(word as usize).cast() })
    }

    /// Adds the second slice's sums to those of the first, in shared memory.
    ///
    /// # Safety
    /// `memory` is that of [`Tile::sums`]; there are two slices, and their sums take no more than
    /// the stages.
    #[inline(always)]
    unsafe fn add_slices(memory: *mut f32, sums: &mut Sums) {
        let (_, _, slice) = Self::warp();
        let threads = THREADS / Self::SLICES;
        let place = |i: usize, word: usize| {
            let word =
                (i * WORDS + word) * threads as usize + (thread::thread_idx_x() % threads) as usize;
            // SAFETY: the sums of one slice take no more than the stages.
            unsafe { memory.cast::<f32x4>().add(word) }
        };
        pipeline::wait_prior::<0>();
        thread::sync_threads();
        // SAFETY: each thread has its own places until the barrier, and the first slice reads them
        // after it.
        unsafe {
            if slice == 1 {
                unroll::<8>(|i| {
                    unroll::<WORDS>(|word| *place(i, word) = words_of::word(sums, i * WORDS + word))
                });
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

    /// Whether this thread's sums are those of all steps.
    #[inline(always)]
    pub fn has_sums() -> bool {
        let (_, _, slice) = Self::warp();
        slice == 0
    }
}
