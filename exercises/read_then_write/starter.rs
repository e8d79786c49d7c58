//! Read, then write
//!
//! *Shared memory* is a block's own fast memory: all threads of the block have the same `STAGE`,
//! and no other block sees it. The threads of a block run in *warps* of 32, and each warp runs at
//! its own pace. So when threads exchange data, their order is undefined, unless the kernel defines
//! it.
//!
//! `thread::sync_threads()` is the *barrier* of the block: no thread continues before all threads
//! of the block have reached it. What they wrote before it, all can read after it.
//!
//! If two threads use the same element, one of them writes it, and no barrier separates the two
//! accesses, that is a *race*: the result depends on which comes first.
//!
//! Every access to shared memory is `unsafe`: you promise that between two barriers no thread uses
//! an element that another one writes, and that what is read has been written. The compiler sees
//! neither the other threads nor what a barrier means to them; the simulator's sanitizer checks
//! exactly this, and reports a race even where the result is right this time. A comment `SAFETY:`
//! says why the promise holds.
//!
//! # Task
//!
//! In each block of 256 elements `shift` moves every element one place up, and puts 0 in the first
//! place. It works in place: the element that one thread reads is overwritten by another. Keep the
//! shift in place, and make it right. The number of elements is a multiple of 256.

use cuda_std::prelude::*;

/// Moves the elements of each block one place up.
#[kernel(block(256), linear)]
pub fn shift(mut data: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 256]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    // There are as many threads as elements.
    let own = data.get_mut(thread::linear_index()).unwrap();

    // SAFETY: no other thread uses element `t` before the barrier.
    unsafe { (*stage)[t] = *own };
    thread::sync_threads();
    // SAFETY: TODO: when this thread reads the element below, that may be overwritten already.
    unsafe { (*stage)[t] = if t > 0 { (*stage)[t - 1] } else { 0.0 } };
    thread::sync_threads();
    // SAFETY: from here on each thread uses its own element only.
    *own = unsafe { (*stage)[t] };
}
