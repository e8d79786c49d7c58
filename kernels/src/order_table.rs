//! A table that is read again and again beside a stream: what L2 keeps, and how a program says so.
//!
//! Each pass reads the whole table and as much of a stream, which is never read again. If L2 has
//! room for the table, but not for the stream, too, replacing the least recently used line evicts
//! each line of the table before it is read again: the stream is always the more recently used.
//! A program knows better, and can say so: let the stream go first, or keep the table by a window.
//!
//! | kernel | the stream is loaded with | the table with |
//! | --- | --- | --- |
//! | [`order_table`] | no hint | no hint |
//! | [`order_table_streaming`] | `ld.global.cs`: expected to be read once | no hint |
//! | [`order_table_first`] | a policy `evict_first` | no hint |
//! | [`order_table_last`] | no hint | a policy `evict_last` |
//!
//! A policy is a value of `createpolicy`, which `ld.global.L2::cache_hint` takes (`sm_80`). Without
//! any hint in the kernel, the host can name the table instead: an access policy window of the
//! stream on which it launches, with a part of L2 set aside (compute capability 8.0).
//!
//! Evicting the table last does nothing by itself: without a part of L2 that is set aside, nothing
//! has room to persist. Table of 28 MiB, 16 passes, on an H200 (Nsight Compute, 2026-11-29; each
//! byte once would be 499 MB):
//!
//! | | no hint | `ld.cs` | `evict_first` | `evict_last` | window |
//! | --- | ---: | ---: | ---: | ---: | ---: |
//! | MB from DRAM | 931 | 500 | 500 | 931 | 499 |
//!
//! What to look for: L2's hits, and the bytes from DRAM (`dram__bytes_read.sum`). Hints change no
//! result. Lines of a window may stay beyond the launch, and take room from others:
//! `cuCtxResetPersistingL2Cache` makes them ordinary.
//!
//! # Shapes
//!
//! There are as many passes as the stream is times the table; a thread has an element of `sums`.
//!
//! Sources: PTX ISA, "Cache Eviction Priority Hints" and "createpolicy"; CUDA C++ programming
//! guide, "Device Memory L2 Access Management".

use cuda_std::vector::u32x4;
use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{mem, thread};

/// Threads of a block.
pub const BLOCK: u32 = 256;

/// No hints.
#[kernel(block(256), linear)]
pub fn order_table(stream: &[u32x4], table: &[u32x4], sums: DisjointSlice<u32>) {
    // SAFETY: both loads are of elements of slices, which are in global memory.
    weigh(
        stream,
        table,
        sums,
        |word| unsafe { mem::load_cg(word) },
        |word| unsafe { mem::load_cg(word) },
    );
}

/// The stream is expected to be read once.
#[kernel(block(256), linear)]
pub fn order_table_streaming(stream: &[u32x4], table: &[u32x4], sums: DisjointSlice<u32>) {
    // SAFETY: the same.
    weigh(
        stream,
        table,
        sums,
        |word| unsafe { mem::load_cs(word) },
        |word| unsafe { mem::load_cg(word) },
    );
}

/// L2 is to evict the stream first.
#[kernel(block(256), linear)]
pub fn order_table_first(stream: &[u32x4], table: &[u32x4], sums: DisjointSlice<u32>) {
    // SAFETY: the same.
    weigh(
        stream,
        table,
        sums,
        |word| unsafe { mem::load_l2_evict_first(word) },
        |word| unsafe { mem::load_cg(word) },
    );
}

/// L2 is to evict the table last, which takes a window to keep it.
#[kernel(block(256), linear)]
pub fn order_table_last(stream: &[u32x4], table: &[u32x4], sums: DisjointSlice<u32>) {
    // SAFETY: the same.
    weigh(
        stream,
        table,
        sums,
        |word| unsafe { mem::load_cg(word) },
        |word| unsafe { mem::load_l2_evict_last(word) },
    );
}

/// Multiplies each pass of the stream with the table, word by word, and adds up what the thread has
/// of it.
#[gpu_only]
#[inline(always)]
fn weigh(
    stream: &[u32x4],
    table: &[u32x4],
    mut sums: DisjointSlice<u32>,
    of_stream: impl Fn(*const u32x4) -> u32x4,
    of_table: impl Fn(*const u32x4) -> u32x4,
) {
    let (thread, threads) = (thread::linear_index(), sums.len());
    let mut sum = 0_u32;
    for pass in stream.chunks_exact(table.len().max(1)) {
        let mut i = thread.get();
        while let (Some(value), Some(weight)) = (pass.get(i), table.get(i)) {
            let (value, weight) = (of_stream(value).to_array(), of_table(weight).to_array());
            for k in 0..4 {
                sum = sum.wrapping_add(value[k].wrapping_mul(weight[k]));
            }
            i += threads;
        }
    }
    if let Some(to) = sums.get_mut(thread) {
        *to = sum;
    }
}
