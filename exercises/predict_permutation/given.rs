//! Does the order of the lanes matter?
//!
//! The first CUDA GPUs (2006) wanted the lanes in order: lane 0 at the first word, lane 1 at the
//! next, and so on. Two years later that order no longer mattered, and so it is today. The hardware
//! looks at the 32 addresses of a load, and moves each piece of memory that any lane wants a word
//! of, once. Lanes that want the same piece share it. So do lanes that want the same word.
//!
//! The pieces are sectors of 8 words on Hopper, and lines of 32 words on Fermi.
//!
//! # Task
//!
//! Each kernel runs with one warp and makes one load request; `input` has 1024 words, 4 KB, and
//! starts with a line. Count the pieces that each load touches, and see whether the simulator
//! counts as many.

use cuda_std::prelude::*;

/// A permutation of words 0 to 31: lanes 0, 1, 2, ... read words 5, 4, 7, 6, 1, 0, 3, 2, 13, ...
///
/// # Safety
/// One warp; `input` has 1024 elements, `output` has 32.
#[kernel]
pub unsafe fn permuted(input: *const f32, output: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = *input.add(i ^ 5);
}

/// From the back: lane 0 reads word 31, lane 31 reads word 0.
///
/// # Safety
/// As for [`permuted`].
#[kernel]
pub unsafe fn reversed(input: *const f32, output: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = *input.add(31 - i);
}

/// All lanes read word 7.
///
/// # Safety
/// As for [`permuted`].
#[kernel]
pub unsafe fn same_word(input: *const f32, output: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = *input.add(7);
}

/// Two lanes share each word: lanes 0 and 1 read word 0, lanes 2 and 3 word 1, and so on.
///
/// # Safety
/// As for [`permuted`].
#[kernel]
pub unsafe fn pairs(input: *const f32, output: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = *input.add(i / 2);
}

/// All over the 4 KB: lanes 0, 1, 2, 3, ... read words 0, 353, 706, 35, ... As 353 = 11 * 32 + 1,
/// the lanes read in lines 0, 11, 22, 1, ..., and no two of them in the same one.
///
/// # Safety
/// As for [`permuted`].
#[kernel]
pub unsafe fn scattered(input: *const f32, output: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = *input.add(353 * i % 1024);
}
