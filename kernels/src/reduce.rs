//! Reduction in six steps, from the first program that works to one that wastes little.
//!
//! A block adds up its part in shared memory, halving the number of values in each step. The
//! blocks' sums are the next launch's input, until fewer than a block are left, which the host adds
//! up. The kernels differ in which threads work when:
//!
//! | kernel | what it changes | what it wastes |
//! | --- | --- | --- |
//! | [`reduce1_sum_f32`] | every second, fourth, eighth thread works | lanes: most are idle |
//! | [`reduce2_sum_f32`] | the first threads work, on values a stride apart | bank conflicts |
//! | [`reduce3_sum_f32`] | the first threads work, on neighbours | half of the threads |
//! | [`reduce4_sum_f32`] | a thread adds two values as it loads | barriers for a single warp |
//! | [`reduce5_sum_f32`] | the last warp continues alone | shared memory: registers would do |
//! | [`reduce6_sum_f32`] | warps reduce by shuffles | |
//!
//! The order is that of the lab sheet's GPU. On an H200 `reduce2` is slower than `reduce1`: the
//! bank conflicts cost more than the idle lanes. The fastest kernel is in `best_kernels::reduce`.
//! The same steps for products, extremes and integers are generated in [`crate::reduce_all`].
//!
//! What to look for: active lanes of a warp instruction
//! (`ptx__thread_inst_executed_per_inst_executed.ratio`) from `reduce1` to `reduce2`, conflicts
//! (`l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum`, `_op_st`) from `reduce2` to
//! `reduce3`, and warp instructions from there on.
//!
//! # The last warp
//!
//! The lab sheet's `reduce5` has no barrier at all in the last warp, whose lanes ran in step on the
//! GPUs of its time. Since Volta they need not, and the compiler never promised it: that program is
//! undefined. Barriers of the warp between reading and writing make it right. The exercises
//! `reduce_last_warp` and `missing_warp_barrier` have the same loop.
//!
//! # Where `unsafe` begins
//!
//! Accesses to `input`, of any length, and `output`, one element a block, are checked. The
//! programmer promises that blocks have a power of two of threads, so that no index passes the end
//! of the stage, and that a barrier separates a write to it from another thread's access. The
//! compiler sees neither the launch nor other threads; the sanitizer checks exactly this.
//!
//! Source: the lab sheet, table 3.3 (19.09, 11.91, 10.62, 9.10, 8.67 ms for the first five).

use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread, warp};

/// The most threads of a block.
pub const MOST_THREADS: u32 = 1024;

/// The fewest threads of a block: `reduce5` adds the values of two warps in its last one.
pub const FEWEST_THREADS: u32 = 64;

/// Interleaved threads: those that are multiples of `2 * s` add the value `s` places after their
/// own.
///
/// # Safety
/// A block has a power of two of threads, from 64 to 1024.
#[kernel(linear)]
pub unsafe fn reduce1_sum_f32(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; MOST_THREADS as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<f32>();
    let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());

    *stage.add(t as usize) = input.get(thread::wide_index_1d()).copied().unwrap_or(0.0);
    thread::sync_threads();

    let mut s = 1;
    while s < threads {
        if t & (2 * s - 1) == 0 {
            *stage.add(t as usize) += *stage.add((t + s) as usize);
        }
        thread::sync_threads();
        s *= 2;
    }

    if t == 0
        && let Some(sum) = output.element_mut(thread::block_idx_x() as usize)
    {
        *sum = *stage;
    }
}

/// Interleaved values: the same additions by the first threads, so that a warp works as a whole or
/// not at all.
///
/// # Safety
/// A block has a power of two of threads, from 64 to 1024.
#[kernel(linear)]
pub unsafe fn reduce2_sum_f32(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; MOST_THREADS as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<f32>();
    let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());

    *stage.add(t as usize) = input.get(thread::wide_index_1d()).copied().unwrap_or(0.0);
    thread::sync_threads();

    let mut s = 1;
    while s < threads {
        let first = 2 * s * t;
        if first < threads {
            *stage.add(first as usize) += *stage.add((first + s) as usize);
        }
        thread::sync_threads();
        s *= 2;
    }

    if t == 0
        && let Some(sum) = output.element_mut(thread::block_idx_x() as usize)
    {
        *sum = *stage;
    }
}

/// Neighbouring values: the first half adds the second half, so the remaining values are adjacent.
///
/// # Safety
/// A block has a power of two of threads, from 64 to 1024.
#[kernel(linear)]
pub unsafe fn reduce3_sum_f32(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; MOST_THREADS as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<f32>();
    let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());

    *stage.add(t as usize) = input.get(thread::wide_index_1d()).copied().unwrap_or(0.0);
    thread::sync_threads();

    let mut s = threads / 2;
    while s > 0 {
        if t < s {
            *stage.add(t as usize) += *stage.add((t + s) as usize);
        }
        thread::sync_threads();
        s /= 2;
    }

    if t == 0
        && let Some(sum) = output.element_mut(thread::block_idx_x() as usize)
    {
        *sum = *stage;
    }
}

/// The first addition while loading: a block takes two blocks' values.
///
/// # Safety
/// A block has a power of two of threads, from 64 to 1024.
#[kernel(linear)]
pub unsafe fn reduce4_sum_f32(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; MOST_THREADS as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<f32>();
    let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());

    let i = thread::block_idx_x() as usize * 2 * threads as usize + t as usize;
    let second = input.get(i + threads as usize).copied().unwrap_or(0.0);
    *stage.add(t as usize) = input.get(i).copied().unwrap_or(0.0) + second;
    thread::sync_threads();

    let mut s = threads / 2;
    while s > 0 {
        if t < s {
            *stage.add(t as usize) += *stage.add((t + s) as usize);
        }
        thread::sync_threads();
        s /= 2;
    }

    if t == 0
        && let Some(sum) = output.element_mut(thread::block_idx_x() as usize)
    {
        *sum = *stage;
    }
}

/// The last warp unrolled: when 64 values are left, the first warp continues alone.
///
/// # Safety
/// A block has a power of two of threads, from 64 to 1024.
#[kernel(linear)]
pub unsafe fn reduce5_sum_f32(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; MOST_THREADS as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<f32>();
    let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());

    let i = thread::block_idx_x() as usize * 2 * threads as usize + t as usize;
    let second = input.get(i + threads as usize).copied().unwrap_or(0.0);
    *stage.add(t as usize) = input.get(i).copied().unwrap_or(0.0) + second;
    thread::sync_threads();

    let mut s = threads / 2;
    while s > 32 {
        if t < s {
            *stage.add(t as usize) += *stage.add((t + s) as usize);
        }
        thread::sync_threads();
        s /= 2;
    }
    if t < 32 {
        let mut sum = *stage.add(t as usize);
        for s in [32, 16, 8, 4, 2, 1] {
            // All 32 lanes add, even those from s on, whose sums are not used.
            sum += *stage.add((t + s) as usize);
            warp::sync_warp(warp::FULL);
            *stage.add(t as usize) = sum;
            warp::sync_warp(warp::FULL);
        }
    }

    if t == 0
        && let Some(sum) = output.element_mut(thread::block_idx_x() as usize)
    {
        *sum = *stage;
    }
}

/// Shuffles: a warp adds up its values in registers, and the first warp the sums of the warps.
///
/// # Safety
/// A block has a power of two of threads, from 64 to 1024.
#[kernel(linear)]
pub unsafe fn reduce6_sum_f32(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static WARP_SUMS: SharedCell<[f32; 32]> = SharedCell::uninit();
    let warp_sums = WARP_SUMS.as_mut_ptr().cast::<f32>();
    let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());

    let i = thread::block_idx_x() as usize * 2 * threads as usize + t as usize;
    let second = input.get(i + threads as usize).copied().unwrap_or(0.0);
    let mut sum = input.get(i).copied().unwrap_or(0.0) + second;

    for distance in [16, 8, 4, 2, 1] {
        sum += warp::warp_shuffle_down(warp::FULL, sum, distance, 32).0;
    }
    if t % 32 == 0 {
        *warp_sums.add(t as usize / 32) = sum;
    }
    thread::sync_threads();
    if t < 32 {
        sum = if t < threads / 32 { *warp_sums.add(t as usize) } else { 0.0 };
        for distance in [16, 8, 4, 2, 1] {
            sum += warp::warp_shuffle_down(warp::FULL, sum, distance, 32).0;
        }
    }

    if t == 0
        && let Some(to) = output.element_mut(thread::block_idx_x() as usize)
    {
        *to = sum;
    }
}
