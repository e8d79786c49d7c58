//! Every second word, every third
//!
//! Lane `i` of a warp reads word `s * i`: the lanes are `s` words apart. This is called a *stride*
//! of `s`. It happens when each thread reads one field of its own structure, or when the warp reads
//! down a column of a matrix.
//!
//! The warp still reads 32 words. But the memory moves pieces of a fixed size, with the words in
//! between: sectors of 8 words on Hopper, lines of 32 words on Fermi. From some stride on each lane
//! needs a different piece, and it cannot get worse.
//!
//! # Task
//!
//! Each kernel runs with one warp and makes one load request; `input` starts with a line. Count the
//! pieces that each load touches on paper, before it runs, and see whether the simulator counts as
//! many.

use cuda_std::prelude::*;

/// The words side by side.
///
/// # Safety
/// One warp; `input` has at least 32 elements, `output` has 32.
#[kernel]
pub unsafe fn stride_1(input: *const f32, output: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = *input.add(i);
}

/// Every second word: words 0, 2, ..., 62.
///
/// # Safety
/// One warp; `input` has at least 63 elements, `output` has 32.
#[kernel]
pub unsafe fn stride_2(input: *const f32, output: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = *input.add(2 * i);
}

/// Every third word, as in structures of three: words 0, 3, ..., 93.
///
/// # Safety
/// One warp; `input` has at least 94 elements, `output` has 32.
#[kernel]
pub unsafe fn stride_3(input: *const f32, output: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = *input.add(3 * i);
}

/// One word of each sector: words 0, 8, ..., 248.
///
/// # Safety
/// One warp; `input` has at least 249 elements, `output` has 32.
#[kernel]
pub unsafe fn stride_8(input: *const f32, output: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = *input.add(8 * i);
}

/// One word of each line: words 0, 32, ..., 992.
///
/// # Safety
/// One warp; `input` has at least 993 elements, `output` has 32.
#[kernel]
pub unsafe fn stride_32(input: *const f32, output: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = *input.add(32 * i);
}
