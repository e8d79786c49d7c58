//! Read, then write
//!
//! *Shared memory* is a block's own fast memory: `shared_array![f32; 256]` is an array that all
//! threads of the block have in common, and that no other block sees. The threads of a block run in
//! *warps* of 32, and each warp runs at its own pace. So when threads exchange data, nothing
//! decides who comes first, unless the kernel does.
//!
//! `thread::sync_threads()` is the *barrier* of the block: no thread goes on before all threads of
//! the block have come to it. What they wrote before it, all can read after it.
//!
//! If two threads use the same element, one of them writes it, and no barrier separates the two
//! accesses, that is a *race*: the result depends on who comes first. The simulator reports races,
//! even where the result is right this time.
//!
//! # Task
//!
//! In each block of 256 elements `shift` moves every element one place up, and puts 0 in the first
//! place. It works in place: the element that one thread reads is overwritten by another. Keep the
//! shift in place, and make it right. The number of elements is a multiple of 256.

use cuda_std::prelude::*;

/// Moves the elements of each block one place up.
///
/// # Safety
/// `data` holds an element for each thread. Blocks have 256 threads.
#[kernel(launch_bounds(256))]
pub unsafe fn shift(data: *mut f32) {
    let stage = shared_array![f32; 256];
    let (t, i) = (thread::thread_idx_x() as usize, thread::index_1d() as usize);
    *stage.add(t) = *data.add(i);
    thread::sync_threads();
    // TODO: when this thread reads the element below, that may be overwritten already.
    *stage.add(t) = if t > 0 { *stage.add(t - 1) } else { 0.0 };
    thread::sync_threads();
    *data.add(i) = *stage.add(t);
}
