//! Copies operands from global to shared memory.

use cuda_std::{pipeline, shared::SharedAddress, thread, unroll};

use super::{DEPTH, THREADS, transposed_pitch};
use crate::matrix::Matrix;

/// Copies an operand's slabs to shared memory: the part of one thread of the block.
///
/// The first slab may have fewer than [`DEPTH`] steps, so that all others are full. A tile at the
/// edge of the matrix is moved back until it is full, too: its first rows are computed twice and
/// stored once. So there is no guard in the loop.
pub(crate) trait Operand: Sized {
    /// Rows, or columns, of the product's tile.
    const SIDE: u32;
    /// From one step of `k` to the next in shared memory, in floats.
    const PITCH: u32;
    /// A tile starts at a multiple of this.
    const WORD: u32;

    /// The slabs for the tile that starts at `start`, from this step of `k` on; they go to the
    /// first stage at `to`.
    fn new(matrix: Matrix, start: u32, first_step: u32, to: SharedAddress<f32>) -> Self;

    /// Fetches the next slab, which has this many `steps`, to a stage that is `stage` floats after
    /// the first. The steps that are missing are zeros.
    ///
    /// # Safety
    /// The matrix has these steps and a whole tile from its start on, and shared memory the stage,
    /// which no other thread uses.
    unsafe fn fetch_part(&mut self, stage: u32, steps: u32);

    /// Fetches the next slab, which is full.
    ///
    /// # Safety
    /// As for [`Operand::fetch_part`], with [`DEPTH`] steps.
    unsafe fn fetch(&mut self, stage: u32);
}

/// An operand whose rows run along `k`: the left one of a product; both of `A A^T`. It is
/// transposed on the way, float by float.
pub(crate) struct AlongK<const SIDE: u32> {
    from: *const f32,
    to: SharedAddress<f32>,
    pitch: usize,
}

impl<const SIDE: u32> AlongK<SIDE> {
    /// Rows that the block copies at once: each thread takes one float.
    const ROWS: u32 = THREADS / DEPTH;

    /// A warp takes 16 steps of 2 rows.
    #[inline(always)]
    fn step() -> u32 {
        thread::thread_idx_x() % DEPTH
    }

    /// Calls `copy` for each of the thread's floats of a slab, and goes on to the next slab.
    ///
    /// # Safety
    /// `copy` may copy between these addresses: as for [`Operand::fetch_part`].
    #[inline(always)]
    unsafe fn for_each(
        &mut self,
        stage: u32,
        steps: u32,
        copy: impl Fn(SharedAddress<f32>, *const f32),
    ) {
        let to = self.to.add(stage);
        unroll::<32>(|i| {
            if (i as u32) < SIDE / Self::ROWS {
                copy(
                    to.add(i as u32 * Self::ROWS),
                    self.from.wrapping_add(i * Self::ROWS as usize * self.pitch),
                );
            }
        });
        self.from = self.from.wrapping_add(steps as usize);
    }
}

impl<const SIDE: u32> Operand for AlongK<SIDE> {
    const SIDE: u32 = SIDE;
    const PITCH: u32 = transposed_pitch(SIDE);
    const WORD: u32 = 1;

    #[inline(always)]
    fn new(matrix: Matrix, start: u32, first_step: u32, to: SharedAddress<f32>) -> Self {
        let (step, row) = (Self::step(), thread::thread_idx_x() / DEPTH);
        let pitch = matrix.pitch as usize;
        Self {
            from: matrix.at(start + row, first_step + step),
            to: to.add(step * Self::PITCH + row),
            pitch,
        }
    }

    #[inline(always)]
    unsafe fn fetch_part(&mut self, stage: u32, steps: u32) {
        // SAFETY: the steps that there are lie in the matrix; the others are not read.
        unsafe {
            self.for_each(stage, steps, |to, from| {
                pipeline::copy_or_zero(to, from, Self::step() < steps)
            })
        }
    }

    #[inline(always)]
    unsafe fn fetch(&mut self, stage: u32) {
        // SAFETY: the slab is in the matrix, by the promise of this function.
        unsafe { self.for_each(stage, DEPTH, |to, from| pipeline::copy(to, from)) }
    }
}

/// An operand whose rows run across `k`: the right one of a product; both of `A A^T` if `A` comes
/// transposed. It is copied in words of a `Word`: 16 bytes where its rows are aligned to them, else
/// 4.
pub(crate) struct AcrossK<Word, const SIDE: u32> {
    from: *const Word,
    to: SharedAddress<Word>,
    pitch: usize,
}

impl<Word: Copy, const SIDE: u32> AcrossK<Word, SIDE> {
    const FLOATS: u32 = (size_of::<Word>() / size_of::<f32>()) as u32;
    /// Words of a row.
    const WORDS: u32 = SIDE / Self::FLOATS;
    /// Steps that the block copies at once.
    const STEPS: u32 = THREADS / Self::WORDS;

    /// Calls `copy` for each of the thread's words of a slab, with the word's step, and goes on to
    /// the next slab.
    ///
    /// # Safety
    /// `copy` may copy between these addresses: as for [`Operand::fetch_part`].
    #[inline(always)]
    unsafe fn for_each(
        &mut self,
        stage: u32,
        steps: u32,
        copy: impl Fn(u32, SharedAddress<Word>, *const Word),
    ) {
        let to = self.to.add(stage / Self::FLOATS);
        unroll::<32>(|i| {
            if (i as u32) < DEPTH / Self::STEPS {
                let step = i as u32 * Self::STEPS;
                let from = self.from.cast::<f32>().wrapping_add(step as usize * self.pitch);
                copy(step, to.add(step * Self::WORDS), from.cast());
            }
        });
        self.from = self.from.cast::<f32>().wrapping_add(steps as usize * self.pitch).cast();
    }
}

impl<Word: Copy, const SIDE: u32> Operand for AcrossK<Word, SIDE> {
    const SIDE: u32 = SIDE;
    const PITCH: u32 = SIDE;
    const WORD: u32 = Self::FLOATS;

    #[inline(always)]
    fn new(matrix: Matrix, start: u32, first_step: u32, to: SharedAddress<f32>) -> Self {
        let t = thread::thread_idx_x();
        let (word, step) = (t % Self::WORDS, t / Self::WORDS);
        let from = matrix.at(first_step + step, start + word * Self::FLOATS).cast_const().cast();
        Self { from, to: to.cast().add(step * Self::WORDS + word), pitch: matrix.pitch as usize }
    }

    #[inline(always)]
    unsafe fn fetch_part(&mut self, stage: u32, steps: u32) {
        let first = thread::thread_idx_x() / Self::WORDS;
        // SAFETY: the steps that there are lie in the matrix; the others are not read.
        unsafe {
            self.for_each(stage, steps, |step, to, from| {
                pipeline::copy_or_zero(to, from, first + step < steps)
            });
        }
    }

    #[inline(always)]
    unsafe fn fetch(&mut self, stage: u32) {
        // SAFETY: the slab is in the matrix, by the promise of this function.
        unsafe { self.for_each(stage, DEPTH, |_, to, from| pipeline::copy(to, from)) }
    }
}
