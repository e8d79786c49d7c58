//! A barrier is for all
//!
//! A barrier waits for all threads of the block, so the rule is: either all of them come to it, or
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
//! have 256 threads, and `n` may be any number: the last block rotates as many elements as are
//! left. Let all threads come to the barrier.

use cuda_std::prelude::*;

/// Rotates each block's elements.
///
/// # Safety
/// `input` and `output` hold `n` elements, and there is a thread for each of them. Blocks have 256
/// threads.
#[kernel(launch_bounds(256))]
pub unsafe fn rotate(input: *const f32, output: *mut f32, n: u32) {
    let stage = shared_array![f32; 256];
    let (t, i) = (thread::thread_idx_x() as usize, thread::index_1d() as usize);
    // How many elements this block has: 256, or what is left.
    let count = (n as usize - (i - t)).min(256);
    if t < count {
        *stage.add(t) = *input.add(i);
        // TODO: in the last block, not all threads come here.
        thread::sync_threads();
        *output.add(i) = *stage.add((t + 1) % count);
    }
}
