//! A warp that starts in the middle
//!
//! The 32 threads of a warp are its *lanes*. When the warp loads, they name 32 addresses at once,
//! in one *request*. The memory does not answer with 32 words. It moves pieces of a fixed size, and
//! a piece serves all lanes that want a part of it.
//!
//! * GPUs since Maxwell, Hopper among them, move *sectors*: 32 bytes, 8 words of 4 bytes.
//! * Fermi, of 2010, moved *lines*: 128 bytes, 32 words. It called each one a transaction.
//!
//! A piece starts at a multiple of its own size. `input` starts with a line, so words 0 to 7 are
//! its first sector, and words 0 to 31 its first line. What a load costs is the number of different
//! pieces that its 32 addresses touch.
//!
//! # Task
//!
//! Each kernel runs with one warp, and so makes one load request. Count the pieces on paper, and
//! see whether the simulator counts as many.

use cuda_std::prelude::*;

/// Lane `i` reads word `i`.
///
/// # Safety
/// One warp; `input` has at least 32 elements, `output` has 32.
#[kernel]
pub unsafe fn aligned(input: *const f32, output: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = *input.add(i);
}

/// Lane `i` reads word `i + 1`: words 1 to 32.
///
/// # Safety
/// One warp; `input` has at least 33 elements, `output` has 32.
#[kernel]
pub unsafe fn shifted_1(input: *const f32, output: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = *input.add(i + 1);
}

/// Lane `i` reads word `i + 8`: words 8 to 39.
///
/// # Safety
/// One warp; `input` has at least 40 elements, `output` has 32.
#[kernel]
pub unsafe fn shifted_8(input: *const f32, output: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    *output.add(i) = *input.add(i + 8);
}
