//! Lost updates
//!
//! `*count += 1` looks like one step. For the GPU it is three: load the count, add one, store the
//! sum. If two threads load the same count, both store the same sum, and one of the two updates is
//! lost. Here thousands of threads do that at the same time.
//!
//! A barrier does not help. It makes the threads of one block wait for each other, but not take
//! turns, and it does nothing about the other blocks.
//!
//! An *atomic* operation loads, computes and stores in one step, and no other thread can interfere.
//! `atomic::add(address, value)` adds to what is at the address, and returns what was there before.
//! Atomic operations on one address are done one after the other.
//!
//! A `DisjointSlice` gives an element to one thread only, so no safe kernel can make this mistake,
//! nor count for all threads. `*mut u32` is a raw pointer: any thread may use it, and the compiler
//! checks nothing about it. Such a kernel is an `unsafe fn`, which says under `# Safety` what the
//! launch must promise, and its whole body is like one `unsafe` block.
//!
//! # Task
//!
//! `count_positive` counts the elements above 0. The count starts at 0. Make it count every one of
//! them.

use cuda_std::prelude::*;

/// Counts the elements above 0.
///
/// # Safety
/// `count` points to one number, which nothing else uses during the launch.
#[kernel(linear)]
pub unsafe fn count_positive(input: &[f32], count: *mut u32) {
    if input.get(thread::linear_index().get()).is_some_and(|&element| element > 0.0) {
        // TODO: many threads come here at the same time.
        *count += 1;
    }
}
