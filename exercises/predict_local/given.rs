//! What does an array in local memory cost?
//!
//! A thread's array can be in registers if every index is a constant once its loops are written
//! out, because registers have no addresses. Otherwise it is in *local memory*: global memory that
//! belongs to the thread, behind the same caches.
//!
//! Local memory is laid out for warps: word 0 of the 32 lanes is a line of 128 bytes, word 1 the
//! next line, and so on. Lane `l` has the bytes from `4 * l` on of each line. A request touches
//! sectors of 32 bytes, as in global memory.
//!
//! Each kernel here fills an array of 8 words, one after the other, and then reads it as the
//! kernel's comment says.
//!
//! # Task
//!
//! Predict the requests to local memory, loads and stores together, and the sectors they touch.

use cuda_std::prelude::*;

/// Eight words of this lane.
///
/// # Safety
/// `input` holds 256 words. One block of 32 threads.
#[inline(always)]
unsafe fn words(input: *const u32) -> [u32; 8] {
    let lane = thread::thread_idx_x() as usize;
    let mut words = [0; 8];
    // SAFETY: all are below 256.
    cuda_std::unroll::<8>(|k| words[k] = unsafe { *input.add(32 * k + lane) });
    words
}

/// Each lane reads its word 3.
///
/// # Safety
/// `input` holds 256 words, `output` 32. One block of 32 threads.
#[kernel(block(32))]
pub unsafe fn constant(input: *const u32, output: *mut u32) {
    let words = words(input);
    *output.add(thread::thread_idx_x() as usize) = words[3];
}

/// Each lane adds up all its words, in a loop from 0 to 7.
///
/// # Safety
/// As for [`constant`].
#[kernel(block(32))]
pub unsafe fn all(input: *const u32, output: *mut u32) {
    let words = words(input);
    let mut sum = 0_u32;
    for word in words {
        sum = sum.wrapping_add(word);
    }
    *output.add(thread::thread_idx_x() as usize) = sum;
}

/// All lanes read the same of their words: the first input says which.
///
/// # Safety
/// As for [`constant`].
#[kernel(block(32))]
pub unsafe fn same(input: *const u32, output: *mut u32) {
    let words = words(input);
    *output.add(thread::thread_idx_x() as usize) = words[*input as usize % 8];
}

/// Lane `l` reads its word `l % 8`.
///
/// # Safety
/// As for [`constant`].
#[kernel(block(32))]
pub unsafe fn each(input: *const u32, output: *mut u32) {
    let (lane, words) = (thread::thread_idx_x() as usize, words(input));
    *output.add(lane) = words[lane % 8];
}

/// Lane `l` reads its word `l / 8 + first`, modulo 8, where `first` is the first input.
///
/// # Safety
/// As for [`constant`].
#[kernel(block(32))]
pub unsafe fn by_eight(input: *const u32, output: *mut u32) {
    let (lane, words) = (thread::thread_idx_x() as usize, words(input));
    *output.add(lane) = words[(lane / 8 + *input as usize % 8) % 8];
}
