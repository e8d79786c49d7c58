//! How many requests for atomic operations?
//!
//! A warp executes an atomic operation as it executes a load: one instruction, one *request* to the
//! memory, for all of its lanes that take part, whether 1 or 32, and whether they all go to one
//! address or not. So the number of requests says how many warps execute an atomic operation, and
//! how often.
//!
//! Atomic operations on shared memory go through its 32 banks. Lanes that want different words of
//! one bank take turns, as in a load or a store: *bank conflicts*. `n` different words of one bank
//! take `n` passes, which are `n - 1` conflicts. (Atomic operations of several lanes on one word
//! are also done one after the other; they do not count as bank conflicts.)
//!
//! # Task
//!
//! Answer the questions about each kernel. The first five kernels run with one block of 256
//! threads, which is 8 warps, the others with one warp.

use cuda_std::prelude::*;

/// Each of 256 threads counts itself.
///
/// # Safety
/// `counter` holds one number. One block of 256 threads.
#[kernel(block(256))]
pub unsafe fn everyone(counter: *mut u32) {
    atomic::add(counter, 1);
}

/// Every second thread counts itself.
///
/// # Safety
/// As for [`everyone`].
#[kernel(block(256))]
pub unsafe fn every_second(counter: *mut u32) {
    if thread::thread_idx_x() % 2 == 0 {
        atomic::add(counter, 1);
    }
}

/// The first 40 threads count themselves.
///
/// # Safety
/// As for [`everyone`].
#[kernel(block(256))]
pub unsafe fn first_40(counter: *mut u32) {
    if thread::thread_idx_x() < 40 {
        atomic::add(counter, 1);
    }
}

/// Threads 0 to 49 and 200 to 255 count themselves, each in a counter of its own.
///
/// # Safety
/// `counters` holds 256 numbers. One block of 256 threads.
#[kernel(block(256))]
pub unsafe fn both_ends(counters: *mut u32) {
    let t = thread::thread_idx_x();
    if t < 50 || t >= 200 {
        atomic::add(counters.add(t as usize), 1);
    }
}

/// The threads count themselves in shared memory, and thread 0 adds the result to the counter.
///
/// # Safety
/// As for [`everyone`].
#[kernel(block(256))]
pub unsafe fn block_first(counter: *mut u32) {
    #[address_space(shared)]
    static OWN: SharedCell<u32> = SharedCell::uninit();
    let own = OWN.as_mut_ptr();
    let t = thread::thread_idx_x();
    if t == 0 {
        *own = 0;
    }
    thread::sync_threads();
    atomic::add(own, 1);
    thread::sync_threads();
    if t == 0 {
        atomic::add(counter, *own);
    }
}

/// Fills 1024 words of shared memory with zeros, without conflicts.
#[inline(always)]
fn zeros() -> *mut u32 {
    #[address_space(shared)]
    static WORDS: SharedCell<[[u32; 32]; 32]> = SharedCell::uninit();
    let words = WORDS.as_mut_ptr();
    for row in 0..32 {
        // SAFETY: each thread writes its own column.
        unsafe { (*words)[row][thread::thread_idx_x() as usize] = 0 };
    }
    thread::sync_threads();
    words.cast()
}

/// Lane `l` adds to word `l`.
///
/// # Safety
/// One block of 32 threads.
#[kernel(block(32))]
pub unsafe fn stride_1() {
    atomic::add(zeros().add(thread::thread_idx_x() as usize), 1);
}

/// Lane `l` adds to word `4 * l`.
///
/// # Safety
/// One block of 32 threads.
#[kernel(block(32))]
pub unsafe fn stride_4() {
    atomic::add(zeros().add(4 * thread::thread_idx_x() as usize), 1);
}

/// Lane `l` adds to word `32 * l`.
///
/// # Safety
/// One block of 32 threads.
#[kernel(block(32))]
pub unsafe fn stride_32() {
    atomic::add(zeros().add(32 * thread::thread_idx_x() as usize), 1);
}
