//! Reduction in six steps: one number from many, from the first program that works to one that wastes little.
//!
//! A block reduces its part in shared memory, halving the number of values in each step; the blocks' results are reduced again by
//! the next launch, until fewer than a block are left, which the host combines. The steps differ in which threads work when:
//!
//! | kernel | what it changes | what it wastes |
//! | --- | --- | --- |
//! | `reduce1` | every second, fourth, eighth thread works | lanes: each warp has work for a few of them |
//! | `reduce2` | the first threads work, with a stride between their values | wavefronts: strides of powers of two collide in the banks |
//! | `reduce3` | the first threads work, on neighbouring values | half of the threads, from the first step on |
//! | `reduce4` | each thread adds two values while it loads | barriers, when a single warp is left |
//! | `reduce5` | the last warp needs no barrier of the block, and its steps are unrolled | shared memory, where registers would do |
//! | `reduce6` | warps reduce by shuffles | |
//!
//! The order is that of the lab sheet's GPU. On an H200 `reduce2` is slower than `reduce1`: the bank conflicts cost more than the idle
//! lanes.
//!
//! What is left to gain, and takes one launch for all values, is in `kernels/best/src/reduce.rs`.
//!
//! What to look for: active lanes of a warp instruction (`ptx__thread_inst_executed_per_inst_executed.ratio`) from `reduce1` to
//! `reduce2`, bank conflicts of shared loads and stores
//! (`l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum`, `_op_st`) from `reduce2` to `reduce3`, and the number of warp
//! instructions from there on.
//!
//! # A word on the last warp
//!
//! The lab sheet's `reduce5` let the last warp read what other lanes had just written, with no barrier at all, since the lanes of a
//! warp ran in step. On GPUs since Volta they need not, and the compiler never promised it: that program is undefined today.
//! Here the steps are unrolled all the same, with a warp barrier between reading and writing.
//!
//! # Shapes
//!
//! `input` has any number of values; `output` gets one for each block. Blocks of the six steps have a power of two of threads, from 64
//! to [`MOST_THREADS`].
//!
//! Source: the lab sheet, table 3.3 (19.09, 11.91, 10.62, 9.10, 8.67 ms for the first five).

#[gpu_only]
use crate::operation::{Maximum, Minimum, Number, Operation, Product, Sum};
#[gpu_only]
use cuda_std::{address_space, shared, shared::SharedCell, thread, unroll, warp};
use cuda_std::{gpu_only, kernel};

/// The most threads of a block.
pub const MOST_THREADS: u32 = 1024;

/// The fewest threads of a block: `reduce5` adds the values of two warps in its last one.
pub const FEWEST_THREADS: u32 = 64;

/// The block's shared memory: a value of any type of 4 bytes for each thread.
#[gpu_only]
#[inline(always)]
fn stage<T>() -> *mut T {
    #[address_space(shared)]
    static STAGE: SharedCell<[u32; MOST_THREADS as usize]> = SharedCell::uninit();
    const { assert!(size_of::<T>() == 4 && align_of::<T>() == 4) }
    STAGE.as_mut_ptr().cast()
}

/// The value at `i`, or what changes nothing beyond the end.
///
/// # Safety
/// `input` holds `length` values.
#[gpu_only]
#[inline(always)]
unsafe fn value<T: Number, O: Operation<T>>(input: *const T, length: usize, i: usize) -> T {
    // SAFETY: `i` is below the length.
    if i < length { unsafe { *input.add(i) } } else { O::IDENTITY }
}

/// `reduce1`: in step `s` each thread whose number is a multiple of `2 s` takes the value `s` behind its own.
#[gpu_only]
#[inline(always)]
unsafe fn interleaved_threads<T: Number, O: Operation<T>>(input: *const T, length: usize, output: *mut T) {
    let stage = stage::<T>();
    let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    // SAFETY: t and t + s are below the number of threads; barriers part the steps.
    unsafe {
        let mine = stage.add(t as usize);
        *mine = value::<T, O>(input, length, thread::wide_index_1d());
        thread::sync_threads();
        let mut s = 1;
        while s < threads {
            if t & (2 * s - 1) == 0 {
                *mine = O::combine(*mine, *mine.add(s as usize));
            }
            thread::sync_threads();
            s *= 2;
        }
        finish(stage, output);
    }
}

/// `reduce2`: the same values by the first threads, side by side: whole warps work, or do not.
#[gpu_only]
#[inline(always)]
unsafe fn interleaved_values<T: Number, O: Operation<T>>(input: *const T, length: usize, output: *mut T) {
    let stage = stage::<T>();
    let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    // SAFETY: i and i + s are below the number of threads; barriers part the steps.
    unsafe {
        *stage.add(t as usize) = value::<T, O>(input, length, thread::wide_index_1d());
        thread::sync_threads();
        let mut s = 1;
        while s < threads {
            let i = 2 * s * t;
            if i < threads {
                let first = stage.add(i as usize);
                *first = O::combine(*first, *first.add(s as usize));
            }
            thread::sync_threads();
            s *= 2;
        }
        finish(stage, output);
    }
}

/// The steps of `reduce3`: the first half takes the second half's values, which stand side by side. `until`: how many threads
/// are left at the end.
#[gpu_only]
#[inline(always)]
unsafe fn halve<T: Number, O: Operation<T>>(stage: *mut T, until: u32) {
    let t = thread::thread_idx_x();
    // SAFETY: it is this thread's.
    let mine = unsafe { stage.add(t as usize) };
    let mut s = thread::block_dim_x() / 2;
    while s >= until {
        if t < s {
            // SAFETY: t + s is below the number of threads; barriers part the steps.
            unsafe { *mine = O::combine(*mine, *mine.add(s as usize)) };
        }
        thread::sync_threads();
        s /= 2;
    }
}

/// `reduce3`.
#[gpu_only]
#[inline(always)]
unsafe fn sequential<T: Number, O: Operation<T>>(input: *const T, length: usize, output: *mut T) {
    let stage = stage::<T>();
    // SAFETY: each thread has its own place.
    unsafe {
        *stage.add(thread::thread_idx_x() as usize) = value::<T, O>(input, length, thread::wide_index_1d());
        thread::sync_threads();
        halve::<T, O>(stage, 1);
        finish(stage, output);
    }
}

/// Loads two values a block apart and combines them: from `reduce4` on a block takes two blocks' values.
#[gpu_only]
#[inline(always)]
unsafe fn two_values<T: Number, O: Operation<T>>(input: *const T, length: usize) -> T {
    let (t, threads) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    let first = thread::block_idx_x() as usize * 2 * threads + t;
    // SAFETY: as the caller says.
    unsafe { O::combine(value::<T, O>(input, length, first), value::<T, O>(input, length, first + threads)) }
}

/// `reduce4`.
#[gpu_only]
#[inline(always)]
unsafe fn first_add_while_loading<T: Number, O: Operation<T>>(input: *const T, length: usize, output: *mut T) {
    let stage = stage::<T>();
    // SAFETY: each thread has its own place.
    unsafe {
        *stage.add(thread::thread_idx_x() as usize) = two_values::<T, O>(input, length);
        thread::sync_threads();
        halve::<T, O>(stage, 1);
        finish(stage, output);
    }
}

/// `reduce5`: when 64 values are left, the first warp goes on alone.
#[gpu_only]
#[inline(always)]
unsafe fn last_warp_unrolled<T: Number, O: Operation<T>>(input: *const T, length: usize, output: *mut T) {
    let stage = stage::<T>();
    let t = thread::thread_idx_x() as usize;
    // SAFETY: each thread has its own place, and the lanes of the last warp wait for each other.
    unsafe {
        *stage.add(t) = two_values::<T, O>(input, length);
        thread::sync_threads();
        halve::<T, O>(stage, 64);
        if t < 32 {
            // All lanes add in every step; what those beyond the step's half add, nobody needs.
            let mut sum = shared::load(stage.add(t));
            unroll::<6>(|round| {
                sum = O::combine(sum, shared::load(stage.add(t + (32 >> round))));
                warp::sync_warp(warp::FULL);
                shared::store(stage.add(t), sum);
                warp::sync_warp(warp::FULL);
            });
        }
        finish(stage, output);
    }
}

/// The value of a block from those of its threads: each warp by shuffles, then the first warp with the warps' values.
#[gpu_only]
#[inline(always)]
unsafe fn by_shuffles<T: Number, O: Operation<T>>(value: T) -> T {
    let stage = stage_of_warps::<T>();
    let t = thread::thread_idx_x() as usize;
    // SAFETY: all threads of the block are here, and a block has at most 32 warps.
    unsafe {
        let of_warp = warp::warp_reduce_first(value, O::combine);
        if t % 32 == 0 {
            *stage.add(t / 32) = of_warp;
        }
        thread::sync_threads();
        let warps = thread::block_dim_x() as usize / 32;
        if t < 32 {
            let of_lane = if t < warps { *stage.add(t) } else { O::IDENTITY };
            return warp::warp_reduce_first(of_lane, O::combine);
        }
    }
    value
}

/// Where shuffles do the rest: a value for each warp.
#[gpu_only]
#[inline(always)]
fn stage_of_warps<T>() -> *mut T {
    #[address_space(shared)]
    static OF_WARPS: SharedCell<[u32; MOST_THREADS as usize / 32]> = SharedCell::uninit();
    const { assert!(size_of::<T>() == 4 && align_of::<T>() == 4) }
    OF_WARPS.as_mut_ptr().cast()
}

/// `reduce6`.
#[gpu_only]
#[inline(always)]
unsafe fn shuffles<T: Number, O: Operation<T>>(input: *const T, length: usize, output: *mut T) {
    // SAFETY: as the caller says.
    unsafe {
        let sum = by_shuffles::<T, O>(two_values::<T, O>(input, length));
        if thread::thread_idx_x() == 0 {
            *output.add(thread::block_idx_x() as usize) = sum;
        }
    }
}

/// The first thread writes the block's value.
#[gpu_only]
#[inline(always)]
unsafe fn finish<T: Number>(stage: *const T, output: *mut T) {
    if thread::thread_idx_x() == 0 {
        // SAFETY: the output has a place for each block.
        unsafe { *output.add(thread::block_idx_x() as usize) = *stage };
    }
}

/// The entry points: each step with each operation and type.
macro_rules! reductions {
    ($($step:literal $body:ident: $($name:ident $ty:ty, $operation:ident;)*)*) => {$($(
        #[doc = concat!("`reduce", $step, "`, the ", stringify!($operation), " of `", stringify!($ty), "`.")]
        ///
        /// # Safety
        /// `input` holds `length` values, `output` one for each block, and nothing else uses it during the launch. Blocks have a
        /// power of two of threads, from 64 to 1024, in x.
        #[kernel]
        pub unsafe fn $name(input: *const $ty, length: usize, output: *mut $ty) {
            $body::<$ty, $operation>(input, length, output);
        }
    )*)*};
}

reductions! {
    1 interleaved_threads:
        reduce1_sum_f32 f32, Sum; reduce1_product_f32 f32, Product;
        reduce1_min_f32 f32, Minimum; reduce1_max_f32 f32, Maximum;
        reduce1_sum_i32 i32, Sum; reduce1_product_i32 i32, Product;
        reduce1_min_i32 i32, Minimum; reduce1_max_i32 i32, Maximum;
    2 interleaved_values:
        reduce2_sum_f32 f32, Sum; reduce2_product_f32 f32, Product;
        reduce2_min_f32 f32, Minimum; reduce2_max_f32 f32, Maximum;
        reduce2_sum_i32 i32, Sum; reduce2_product_i32 i32, Product;
        reduce2_min_i32 i32, Minimum; reduce2_max_i32 i32, Maximum;
    3 sequential:
        reduce3_sum_f32 f32, Sum; reduce3_product_f32 f32, Product;
        reduce3_min_f32 f32, Minimum; reduce3_max_f32 f32, Maximum;
        reduce3_sum_i32 i32, Sum; reduce3_product_i32 i32, Product;
        reduce3_min_i32 i32, Minimum; reduce3_max_i32 i32, Maximum;
    4 first_add_while_loading:
        reduce4_sum_f32 f32, Sum; reduce4_product_f32 f32, Product;
        reduce4_min_f32 f32, Minimum; reduce4_max_f32 f32, Maximum;
        reduce4_sum_i32 i32, Sum; reduce4_product_i32 i32, Product;
        reduce4_min_i32 i32, Minimum; reduce4_max_i32 i32, Maximum;
    5 last_warp_unrolled:
        reduce5_sum_f32 f32, Sum; reduce5_product_f32 f32, Product;
        reduce5_min_f32 f32, Minimum; reduce5_max_f32 f32, Maximum;
        reduce5_sum_i32 i32, Sum; reduce5_product_i32 i32, Product;
        reduce5_min_i32 i32, Minimum; reduce5_max_i32 i32, Maximum;
    6 shuffles:
        reduce6_sum_f32 f32, Sum; reduce6_product_f32 f32, Product;
        reduce6_min_f32 f32, Minimum; reduce6_max_f32 f32, Maximum;
        reduce6_sum_i32 i32, Sum; reduce6_product_i32 i32, Product;
        reduce6_min_i32 i32, Minimum; reduce6_max_i32 i32, Maximum;
}
