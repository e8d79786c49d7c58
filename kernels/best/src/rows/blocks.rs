//! Long rows: one or several blocks a row. Compiled for the device only.

use core::ops::Mul;

use cuda_std::{mem, thread, vector::f32x4};

use super::statistic::{Statistic, combine, nothing};
use crate::combine::{BLOCK, Indices, Word, of_block, of_blocks, of_indices};
use crate::matrix::at;

/// `per_row` blocks a row, of which the last combines what they found: so few rows that their
/// blocks alone would not fill the GPU are shared by several.
///
/// # Safety
/// The matrix holds a row for each `per_row` blocks, the output an element for each, and `slots` a
/// place for each block, which holds 0. The block has
/// [`BLOCK_THREADS`](super::BLOCK_THREADS) threads.
#[inline(always)]
pub(super) unsafe fn by_blocks<S: Statistic>(
    matrix: *const f32,
    output: *mut f32,
    columns: u32,
    pitch: u32,
    per_row: u32,
    slots: *mut u64,
) {
    let (row, part) = (thread::block_idx_x() / per_row, thread::block_idx_x() % per_row);
    let first = part * BLOCK + thread::thread_idx_x();
    let numbers = Indices {
        first: first as usize,
        step: per_row as usize * BLOCK as usize,
        end: columns as usize,
    };
    // SAFETY: the row is in the matrix; each has slots of its own.
    unsafe {
        let elements = matrix.add(at(row, 0, pitch));
        let of_thread = if elements.addr().is_multiple_of(16) {
            let of_quads = of_elements::<S, f32x4, 2>(elements.cast(), numbers.of_quads());
            combine::<S>(of_quads, of_elements::<S, f32, 1>(elements, numbers.behind_quads()))
        } else {
            of_elements::<S, f32, 4>(elements, numbers)
        };
        let of_block = of_block::<f32, S::Combine, 4>(of_thread, 0);
        let slots = slots.add(at(row, 0, per_row));
        if let Some(of_row) =
            of_blocks::<f32, S::Combine>(of_block, part as usize, per_row as usize, slots)
        {
            *output.add(row as usize) = S::finish(of_row, columns);
        }
    }
}

/// Combines a thread's elements of a row, with `TOGETHER` words under way.
///
/// # Safety
/// The row has words below the end of the indices, which nothing writes during the launch.
#[inline(always)]
unsafe fn of_elements<S: Statistic, W: Word<f32> + Mul<Output = W>, const TOGETHER: usize>(
    row: *const W,
    words: Indices,
) -> f32 {
    // SAFETY: `of_indices` asks for words below the end, which the row has.
    let load = |i| unsafe { mem::load_ca(row.add(i)) };
    let number = |word: W| S::of(word).combined::<S::Combine>();
    of_indices::<f32, S::Combine, W, TOGETHER>(words, W::all(nothing::<S>()), load, number)
}
