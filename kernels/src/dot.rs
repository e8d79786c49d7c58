//! The dot product: where the threads of a block meet.
//!
//! Each thread multiplies a pair of elements, and the block adds up the products in a tree. The tree needs a place that all threads of
//! the block see. [`dot_global`] uses global memory: each step of the tree is a trip through the caches. [`dot_shared`] uses shared
//! memory, which is as close as L1, with no traffic beyond the multiprocessor. Either way the blocks' sums are added up by the host.
//!
//! The vectors may lie one directly behind the other in one allocation (*linear*), so that the second starts wherever the first ends,
//! or each on the device's alignment (*aligned*).
//!
//! [`dot_best`] takes many pairs a thread, 16 bytes at a time, and adds up by shuffles: shared memory sees one value a warp.
//!
//! What to look for: requests and sectors to global memory, loads and stores both, to which the tree in shared memory adds none; with
//! linear vectors whose length is not a multiple of 8, one more sector for each load of the second.
//!
//! Source: the lab sheet, exercise on vectors, variant 1 (1000 elements).

#[gpu_only]
use cuda_std::{GpuFloat, address_space, shared::SharedCell, thread, vector::f32x4, warp};
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

/// Many pairs a thread, in words of 16 bytes where both vectors stand on them; then by shuffles.
///
/// # Safety
/// As for [`dot_shared`], in blocks of whole warps.
#[kernel]
pub unsafe fn dot_best(a: *const f32, b: *const f32, length: usize, sums: *mut f32) {
    let (first, threads) = (thread::wide_index_1d(), thread::grid_dim_x() as usize * thread::block_dim_x() as usize);
    let wide = (a as usize | b as usize).is_multiple_of(16);
    let quads = if wide { length / 4 } else { 0 };
    let (a_quads, b_quads) = (a.cast::<f32x4>(), b.cast::<f32x4>());
    let add = |sum: f32, (a, b): (f32x4, f32x4)| {
        let [x, y, z, w] = (a * b).to_array();
        sum + ((x + y) + (z + w))
    };
    let mut sum = 0.0;
    let mut i = first;
    // Four words are in flight at a time.
    while i + threads < quads {
        let one = (*a_quads.add(i), *b_quads.add(i));
        let other = (*a_quads.add(i + threads), *b_quads.add(i + threads));
        sum = add(add(sum, one), other);
        i += 2 * threads;
    }
    if i < quads {
        sum = add(sum, (*a_quads.add(i), *b_quads.add(i)));
    }
    let mut i = 4 * quads + first;
    while i < length {
        sum = GpuFloat::mul_add(*a.add(i), *b.add(i), sum);
        i += threads;
    }

    #[address_space(shared)]
    static OF_WARPS: SharedCell<[f32; 32]> = SharedCell::uninit();
    let of_warps = OF_WARPS.as_mut_ptr().cast::<f32>();
    let t = thread::thread_idx_x() as usize;
    let of_warp = warp::warp_reduce_first(sum, |a, b| a + b);
    if t % 32 == 0 {
        *of_warps.add(t / 32) = of_warp;
    }
    thread::sync_threads();
    if t < 32 {
        let of_lane = if t < thread::block_dim_x() as usize / 32 { *of_warps.add(t) } else { 0.0 };
        let sum = warp::warp_reduce_first(of_lane, |a, b| a + b);
        if t == 0 {
            *sums.add(thread::block_idx_x() as usize) = sum;
        }
    }
}
