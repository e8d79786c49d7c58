//! A barrier is for all threads
//!
//! A barrier waits for all threads of the block, so the rule is: either all of them reach it, or
//! none. Here, only threads with an element do. In the last block the others skip the branch, and
//! the barrier in it.
//!
//! What a GPU does then is undefined. It may wait forever, or continue too early. Often it does
//! what you had in mind, until the next GPU or the next compiler.
//!
//! Threads without an element may be idle, but they must not be absent: guard the reads and writes,
//! and leave the barrier outside.
//!
//! # Task
//!
//! `rotate` moves the elements of each block one place down, and the first one to the end. Blocks
//! have 256 threads, and there may be any number of elements: the last block rotates as many as are
//! left. Let all threads reach the barrier.

use cuda_std::prelude::*;

/// Rotates each block's elements.
#[kernel(block(256), linear)]
pub fn rotate(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 256]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // How many elements this block has: 256, or what is left.
    let count = (input.len() - (i.get() - t)).min(256);
    if let (Some(from), Some(to)) = (input.get(i.get()), output.get_mut(i)) {
        // SAFETY: each thread writes its own element.
        unsafe { (*stage)[t] = *from };
        // TODO: in the last block, not all threads come here.
        thread::sync_threads();
        // SAFETY: the first `count` elements were written before the barrier.
        *to = unsafe { (*stage)[(t + 1) % count] };
    }
}
