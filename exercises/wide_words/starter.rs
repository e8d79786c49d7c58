//! Sixteen bytes at once
//!
//! A thread can load 4, 8 or 16 bytes with one instruction. A warp that loads 16 bytes a lane asks
//! for 512 bytes with one request, which otherwise takes four requests of 128 bytes. The sectors
//! are the same: 16 for one request or 4 for each of four. What is saved is instructions: those of
//! the loads and stores, and those that compute their addresses.
//!
//! `f32x4` is a word of four floats. A `*const f32` may be cast to `*const f32x4`, and then used,
//! if the address is a multiple of 16, as the start of every buffer is. Words are multiplied and
//! added element by element, and `f32x4::splat(x)` is a word with `x` in all four elements.
//!
//! # Task
//!
//! The threads of your kernel go through the array in steps of the whole launch, four elements a
//! thread. Make it one word of 16 bytes a thread instead. The launch has at least `n / 4` threads,
//! and `n` is a multiple of 4, so no element is left over.

use cuda_std::prelude::*;

/// `output[i] = factor * input[i]`.
///
/// # Safety
/// `input` and `output` hold `n` elements, `n` is a multiple of 4. Both start at multiples of 16
/// bytes. The launch has at least `n / 4` threads.
#[kernel]
pub unsafe fn scale(input: *const f32, output: *mut f32, n: usize, factor: f32) {
    let threads = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let mut i = thread::wide_index_1d();
    // TODO: how many words are there, and which is this thread's?
    while i < n {
        *output.add(i) = factor * *input.add(i);
        i += threads;
    }
}
