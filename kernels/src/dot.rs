//! The dot product: where the threads of a block meet.
//!
//! Each thread multiplies a pair of elements, and the block adds up the products in a tree. The tree needs a place that all threads of
//! the block see. [`dot_global`] uses global memory: each step of the tree is a trip through the caches. [`dot_shared`] uses shared
//! memory, which is as close as L1, with no traffic beyond the multiprocessor. Either way the blocks' sums are added up by the host.
//!
//! The vectors may lie one directly behind the other in one allocation (*linear*), so that the second starts wherever the first ends,
//! or each on the device's alignment (*aligned*).
//!
//! What is left to gain is in `kernels/best/src/dot.rs`.
//!
//! What to look for: requests and sectors to global memory, loads and stores both, to which the tree in shared memory adds none; with
//! linear vectors whose length is not a multiple of 8, one more sector for each load of the second.
//!
//! Source: the lab sheet, exercise on vectors, variant 1 (1000 elements).

#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread};
use cuda_std::{gpu_only, kernel};

/// The most threads of a block.
pub const MOST_THREADS: u32 = 1024;

/// The product of this thread's pair, or 0 beyond the end.
///
/// # Safety
/// `a` and `b` hold `length` elements.
#[gpu_only]
#[inline(always)]
unsafe fn product(a: *const f32, b: *const f32, length: usize) -> f32 {
    let i = thread::wide_index_1d();
    // SAFETY: `i` is below the length.
    if i < length { unsafe { *a.add(i) * *b.add(i) } } else { 0.0 }
}

/// Adds up the block's values, which stand side by side; the sum is in the first one's place.
///
/// # Safety
/// `values` holds one for each thread of the block, each written by its thread; all threads are here.
#[gpu_only]
#[inline(always)]
unsafe fn tree(values: *mut f32) {
    let t = thread::thread_idx_x();
    // SAFETY: it is this thread's.
    let mine = unsafe { values.add(t as usize) };
    thread::sync_threads();
    let mut s = thread::block_dim_x() / 2;
    while s > 0 {
        if t < s {
            // SAFETY: t + s is below the number of threads; barriers part the steps.
            unsafe { *mine += *mine.add(s as usize) };
        }
        thread::sync_threads();
        s /= 2;
    }
}

/// The tree in global memory: `scratch` has a place for each thread of the launch.
///
/// # Safety
/// `a` and `b` hold `length` elements, `scratch` one for each thread, `sums` one for each block, and nothing else uses the last two
/// during the launch. Blocks have a power of two of threads.
#[kernel]
pub unsafe fn dot_global(a: *const f32, b: *const f32, length: usize, scratch: *mut f32, sums: *mut f32) {
    let block = thread::block_idx_x() as usize;
    let values = scratch.add(block * thread::block_dim_x() as usize);
    *values.add(thread::thread_idx_x() as usize) = product(a, b, length);
    tree(values);
    if thread::thread_idx_x() == 0 {
        *sums.add(block) = *values;
    }
}

/// The tree in shared memory.
///
/// # Safety
/// As for [`dot_global`], without `scratch`.
#[kernel]
pub unsafe fn dot_shared(a: *const f32, b: *const f32, length: usize, sums: *mut f32) {
    #[address_space(shared)]
    static VALUES: SharedCell<[f32; MOST_THREADS as usize]> = SharedCell::uninit();
    let values = VALUES.as_mut_ptr().cast::<f32>();
    *values.add(thread::thread_idx_x() as usize) = product(a, b, length);
    tree(values);
    if thread::thread_idx_x() == 0 {
        *sums.add(thread::block_idx_x() as usize) = *values;
    }
}
