//! Wait for what others write
//!
//! Each thread writes one element to shared memory, and reads one that another thread writes.
//! Thread 0 reads the element of thread 255, which is in another warp, and warps run in any order:
//! has thread 255 written it yet?
//!
//! On the page, the line that writes stands above the line that reads. That says what comes first
//! in one thread. Between threads, only a barrier says so.
//!
//! A kernel like this one may give the right result in every test on one GPU, and a wrong one on
//! the next.
//!
//! # Task
//!
//! `reverse` reverses each group of 256 elements. Make sure that each element is written before it
//! is read. The number of elements is a multiple of 256.

use cuda_std::prelude::*;

/// Reverses each block's elements.
///
/// # Safety
/// `input` and `output` hold an element for each thread. Blocks have 256 threads.
#[kernel(launch_bounds(256))]
pub unsafe fn reverse(input: *const f32, output: *mut f32) {
    let stage = shared_array![f32; 256];
    let (t, i) = (thread::thread_idx_x() as usize, thread::index_1d() as usize);
    // TODO: where must the threads wait for each other?
    *stage.add(t) = *input.add(i);
    *output.add(i) = *stage.add(255 - t);
}
