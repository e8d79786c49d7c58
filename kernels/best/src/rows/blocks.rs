//! Long rows: one or several blocks a row. Compiled for the device only.

use core::ops::Mul;

use cuda_std::{mem, thread, vector::f32x4};

use super::statistic::{Statistic, combine, nothing};
use crate::combine::{BLOCK, Indices, Word, reduce_block, reduce_blocks, reduce_indices};
use crate::matrix::at;

/// `per_row` blocks a row, of which the last combines their results: where there are too few rows
/// to fill the GPU with a block each, several share one.
///
/// # Safety
/// The matrix holds a row for each `per_row` blocks, the output an element for each, and `slots` a
/// place for each block, which holds 0. The block has [`BLOCK_THREADS`](super::BLOCK_THREADS)
/// threads.
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
    // SAFETY: the row is in the matrix; each has its own slots.
    unsafe {
        let elements = matrix.add(at(row, 0, pitch));
        let thread_value = if elements.addr().is_multiple_of(16) {
            let quad_value = reduce_elements::<S, f32x4, 2>(elements.cast(), numbers.quads());
            combine::<S>(quad_value, reduce_elements::<S, f32, 1>(elements, numbers.after_quads()))
        } else {
            reduce_elements::<S, f32, 4>(elements, numbers)
        };
        let block_value = reduce_block::<f32, S::Combine, 4>(thread_value, 0);
        let slots = slots.add(at(row, 0, per_row));
        if let Some(row_value) =
            reduce_blocks::<f32, S::Combine>(block_value, part as usize, per_row as usize, slots)
        {
            *output.add(row as usize) = S::finish(row_value, columns);
        }
    }
}

/// Combines a thread's elements of a row, with `TOGETHER` words in flight.
///
/// # Safety
/// The row has words below the end of the indices, which nothing writes during the launch.
#[inline(always)]
unsafe fn reduce_elements<S: Statistic, W: Word<f32> + Mul<Output = W>, const TOGETHER: usize>(
    row: *const W,
    words: Indices,
) -> f32 {
    // SAFETY: `reduce_indices` asks for words below the end, which the row has.
    let load = |i| unsafe { mem::load_ca(row.add(i)) };
    let number = |word: W| S::of(word).combined::<S::Combine>();
    reduce_indices::<f32, S::Combine, W, TOGETHER>(words, W::all(nothing::<S>()), load, number)
}
