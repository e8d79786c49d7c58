//! The dot product: where the threads of a block meet.
//!
//! Each thread multiplies a pair of elements, and the block adds up the products in a tree. The tree needs a place that all threads of
//! the block see. [`dot_global`] uses global memory: each step of the tree is a trip through the caches. [`dot_shared`] uses shared
//! memory, which is as close as L1, with no traffic beyond the multiprocessor. Either way the blocks' sums are added up by the host.
//!
//! The vectors may lie one directly behind the other in one allocation (*linear*), so that the second starts wherever the first ends,
//! or each on the device's alignment (*aligned*).
//!
//! [`dot_best`] goes the way of the best [`reduce`](crate::reduce): many pairs a thread, in words of 16 bytes of which four are under
//! way; shuffles, so that shared memory sees one value a warp (`smsp__sass_inst_executed_op_shared_st.sum`); and one launch, whose last
//! block adds up the blocks' sums, so that the result is on the device. The kernel itself waits for the one before it
//! (`cuda_std::dependent_launch`), which hides the gap between launches.
//!
//! What to look for: requests and sectors to global memory, loads and stores both, to which the tree in shared memory adds none; with
//! linear vectors whose length is not a multiple of 8, one more sector for each load of the second.
//!
//! Source: the lab sheet, exercise on vectors, variant 1 (1000 elements).

#[gpu_only]
use crate::combine::{BLOCK, Indices, Sum, Word, of_block, of_blocks, of_indices};
#[gpu_only]
use core::ops::Mul;
#[gpu_only]
use cuda_std::{address_space, dependent_launch, mem::load_ca, shared::SharedCell, thread, vector::f32x4};
use cuda_std::{gpu_only, kernel};

/// The most threads of a block.
pub const MOST_THREADS: u32 = 1024;

/// The threads of a block of [`dot_best`].
pub const BEST_THREADS: u32 = 512;
#[gpu_only]
const _: () = assert!(BEST_THREADS == BLOCK);

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

/// Many pairs a thread, in words of 16 bytes where both vectors are aligned to them, and in one launch: the last block adds up the blocks'
/// sums.
///
/// # Safety
/// `a` and `b` hold `length` elements, `sum` one, `slots` one for each block, which is 0 and will be again. Nothing else uses the last
/// two during the launch. Blocks have [`BEST_THREADS`] threads in x.
#[kernel(launch_bounds(512))]
pub unsafe fn dot_best(a: *const f32, b: *const f32, length: usize, sum: *mut f32, slots: *mut u64) {
    dependent_launch::wait();
    let (block, blocks) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    let first = block * BLOCK as usize + thread::thread_idx_x() as usize;
    let numbers = Indices { first, step: blocks * BLOCK as usize, end: length };
    let of_thread = if (a.addr() | b.addr()).is_multiple_of(16) {
        products::<f32x4, 2>(a.cast(), b.cast(), numbers.of_quads()) + products::<f32, 1>(a, b, numbers.behind_quads())
    } else {
        products::<f32, 4>(a, b, numbers)
    };
    let of_block = of_block::<f32, Sum, 4>(of_thread, 0);
    if let Some(of_all) = of_blocks::<f32, Sum>(of_block, block, blocks, slots) {
        *sum = of_all;
    }
}

/// Adds up a thread's products, with `TOGETHER` words of each vector under way.
///
/// # Safety
/// The vectors have words below the end of the indices, which nothing writes during the launch.
#[gpu_only]
#[inline(always)]
unsafe fn products<W: Word<f32> + Mul<Output = W>, const TOGETHER: usize>(
    a: *const W,
    b: *const W,
    words: Indices,
) -> f32 {
    // SAFETY: as the caller says.
    let load = |i| unsafe { [load_ca(a.add(i)), load_ca(b.add(i))] };
    of_indices::<f32, Sum, [W; 2], TOGETHER>(words, [W::all(0.0); 2], load, |[a, b]| (a * b).combined::<Sum>())
}
