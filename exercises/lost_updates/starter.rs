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
//! # Task
//!
//! `count_positive` counts the elements above 0. The count starts at 0. Make it count every one of
//! them.

use cuda_std::prelude::*;

/// Counts the elements above 0.
///
/// # Safety
/// `input` holds `n` elements, and there is a thread for each of them. `count` holds one number.
#[kernel]
pub unsafe fn count_positive(input: *const f32, n: u32, count: *mut u32) {
    let i = thread::index_1d() as usize;
    if i < n as usize && *input.add(i) > 0.0 {
        // TODO: many threads come here at the same time.
        *count += 1;
    }
}
