//! Atomic operations: a histogram, and how many threads want one counter at the same time.
//!
//! To count a value, a thread reads a counter, adds 1, and writes it back, in one step that nobody
//! can interrupt. L2 does that for counters in global memory, one operation on a sector after the
//! other. So what a histogram costs depends on its data: where all values are one, every thread
//! waits for the same counter. The remedy is the same everywhere: add up in private first, and
//! share the sums.
//!
//! | kernel | a value is added to | the global counter gets |
//! | --- | --- | --- |
//! | [`atomics_global`] | the counter in global memory | every value |
//! | [`atomics_ballot`], [`atomics_match`] | a sum of the warp, by votes | one sum a warp's round |
//! | [`atomics_shared`] | a counter of the block in shared memory | one sum a block |
//! | [`atomics_warp`] | a counter of the warp in shared memory | one sum a block |
//!
//! What to look for: the atomic operations on the busiest counter, with values that are all alike
//! and with values that are not; the requests for atomic operations in global and in shared memory.
//! Nobody uses the old values, so those in global memory are reductions (`RED`,
//! `l1tex__t_requests_pipe_lsu_mem_global_op_red.sum`), for which no warp waits. Shared memory
//! counts the lanes that add 1 to one word and adds their number in one pass (`ATOMS.POPC.INC`), so
//! a histogram for each warp gains nothing more.
//!
//! # Shapes
//!
//! Any number of values; [`BINS`] counters, all 0. Grids of any size: a thread steps by the size of
//! the grid.
//!
//! Sources: PMPP (Hwu, Kirk, El Hajj), chapter on the parallel histogram; A. Adinets,
//! "Warp-aggregated atomics" (NVIDIA, 2014).

use core::sync::atomic::AtomicU32;
#[cfg(target_arch = "nvptx64")]
use core::sync::atomic::Ordering::Relaxed;

use cuda_std::phases::{Block, Shared};
use cuda_std::{AtomicSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{thread, warp};

/// The values of a byte: a counter for each.
pub const BINS: usize = 256;

/// Threads of a block: one for each counter.
pub const BLOCK: u32 = 256;

/// Warps of a block.
const WARPS: usize = 8;

/// Each value is added to its counter in global memory.
#[kernel(block(256), linear)]
pub fn atomics_global(values: &[u8], counts: AtomicSlice<u32>) {
    for i in thread::grid_stride(values.len()) {
        if let Some(value) = values.get(i.get()) {
            counts.add((*value).into(), 1);
        }
    }
}

/// The lanes of a warp that have the same value find each other by eight votes, one for each bit,
/// and the first of them adds their number.
#[kernel(block(256), linear)]
pub fn atomics_ballot(values: &[u8], counts: AtomicSlice<u32>) {
    for i in thread::grid_stride(values.len()) {
        if let Some(value) = values.get(i.get()) {
            let here = lanes_with_values(i.get(), values.len());
            let mut same = here;
            for bit in 0..u8::BITS {
                let is_set = value >> bit & 1 == 1;
                // SAFETY: the lanes that have a value are those that come here.
                let set = unsafe { warp::warp_vote_ballot(here, is_set) };
                same &= if is_set { set } else { !set };
            }
            add_first(&counts, *value, same);
        }
    }
}

/// The same by one instruction (`match.any.sync`, since Volta).
#[kernel(block(256), linear)]
pub fn atomics_match(values: &[u8], counts: AtomicSlice<u32>) {
    for i in thread::grid_stride(values.len()) {
        if let Some(value) = values.get(i.get()) {
            let here = lanes_with_values(i.get(), values.len());
            // SAFETY: the lanes that have a value are those that come here.
            let same = unsafe { warp::warp_match_any(here, u32::from(*value)) };
            add_first(&counts, *value, same);
        }
    }
}

/// A histogram for each block, in shared memory, which is added to the global one in the end.
#[kernel(block(256), linear)]
pub fn atomics_shared(
    mut block: Block<256>,
    own: Shared<[AtomicU32; BINS]>,
    values: &[u8],
    counts: AtomicSlice<u32>,
) {
    block.each(|thread| own.read(thread)[thread.number() as usize].store(0, Relaxed));
    block.each(|thread| {
        let own = own.read(thread);
        for i in thread::grid_stride(values.len()) {
            if let Some(value) = values.get(i.get()) {
                own[usize::from(*value)].fetch_add(1, Relaxed);
            }
        }
    });
    block.finish(|thread| {
        let bin = thread.number() as usize;
        counts.add(bin, own.read(thread)[bin].load(Relaxed));
    });
}

/// A histogram for each warp, in shared memory: eight times the counters, for fewer threads each.
#[kernel(block(256), linear)]
pub fn atomics_warp(
    mut block: Block<256>,
    own: Shared<[[AtomicU32; BINS]; WARPS]>,
    values: &[u8],
    counts: AtomicSlice<u32>,
) {
    block.each(|thread| {
        let bin = thread.number() as usize;
        own.read(thread).iter().for_each(|counters| counters[bin].store(0, Relaxed));
    });
    block.each(|thread| {
        let own = &own.read(thread)[thread.number() as usize / 32];
        for i in thread::grid_stride(values.len()) {
            if let Some(value) = values.get(i.get()) {
                own[usize::from(*value)].fetch_add(1, Relaxed);
            }
        }
    });
    block.finish(|thread| {
        let bin = thread.number() as usize;
        counts.add(bin, own.read(thread).iter().map(|counters| counters[bin].load(Relaxed)).sum());
    });
}

/// The lanes of a warp whose indices are below `length`, if this lane's is `i`.
#[gpu_only]
#[inline(always)]
fn lanes_with_values(i: usize, length: usize) -> u32 {
    let beyond = (i - thread::lane_id() as usize + 32).saturating_sub(length);
    u32::MAX >> beyond.min(31)
}

/// Adds the number of lanes to the counter of their value, in the first of them.
#[gpu_only]
#[inline(always)]
fn add_first(counts: &AtomicSlice<u32>, value: u8, same: u32) {
    if thread::lane_id() == same.trailing_zeros() {
        counts.add(value.into(), same.count_ones());
    }
}
