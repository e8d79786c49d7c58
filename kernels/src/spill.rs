//! Registers against occupancy: where a thread keeps its data, and how many threads that leaves.
//!
//! A thread's variables are in registers, and a multiprocessor has 65,536 of those (since Maxwell).
//! Registers have no addresses: an array can be in them only if every index is a constant once
//! loops are unrolled. Otherwise it is in *local memory*, a piece of global memory for each thread,
//! laid out so that a word of 32 lanes is a line of 128 bytes. L1 keeps these lines, as long as
//! those of all resident threads fit; beyond that they go to L2 and to DRAM.
//!
//! The first kernels compute an echo: each thread has a channel of samples, and adds to each half
//! of what it computed `N` samples before. It keeps the last `N` in a ring.
//!
//! | kernel | the ring is in | because |
//! | --- | --- | --- |
//! | [`spill_local_16`], [`spill_local_64`] | local memory | its index is computed |
//! | [`spill_shared_16`], [`spill_shared_64`] | a column of shared memory | the kernel says so |
//! | [`spill_registers_16`], [`spill_registers_64`] | registers | all rounds are written out |
//! | [`spill_bounded_64`] | registers, of which it may have 32 | 16 blocks are to be resident |
//!
//! [`spill_bounded_64`] is [`spill_registers_64`] with too few registers: `ptxas` *spills* some to
//! local memory. PTX has unlimited virtual registers, so it does not show spills.
//!
//! A thread with more registers leaves room for fewer threads. That need not cost time if each does
//! more at once (Volkov): [`spill_walk_1`] to [`spill_walk_8`] follow 1 to 8 lists at a time, where
//! each load needs the one before it. By Little's law a multiprocessor gets as many loads in a
//! second as are under way at once, over their latency: an eighth of the threads with 8 lists each
//! have as many loads under way as all of them with one each.
//!
//! What to look for: sectors of local memory, L1's hits of those
//! (`l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum`) and the bytes from DRAM; registers
//! (`launch__registers_per_thread`), occupancy and time.
//!
//! # Shapes
//!
//! `samples` is a matrix: a channel is a column, and `peaks` has an element for each. `next` has
//! for each element of such a matrix the index of the next one; a list begins at each of the first
//! `ends.len()` elements. Grids of any size that have a thread for each channel, or for each list
//! of a round.
//!
//! Source: V. Volkov, "Better performance at lower occupancy" (GTC 2010).

use cuda_std::phases::{Block, Shared};
use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{thread, unroll};

/// Threads of a block that computes echoes.
pub const BLOCK: u32 = 128;

/// Samples that a thread loads before it uses the first.
#[gpu_only]
const AHEAD: usize = 8;

/// What remains of a sample after a round.
pub const ECHO: f32 = 0.5;

/// A ring of 16 words in local memory.
#[kernel(block(128), linear)]
pub fn spill_local_16(samples: &[f32], peaks: DisjointSlice<f32>) {
    in_local_memory::<16>(samples, peaks);
}

/// A ring of 64 words in local memory: those of 2048 threads are 512 KB.
#[kernel(block(128), linear)]
pub fn spill_local_64(samples: &[f32], peaks: DisjointSlice<f32>) {
    in_local_memory::<64>(samples, peaks);
}

/// A ring of 16 words in registers.
#[kernel(block(128), linear)]
pub fn spill_registers_16(samples: &[f32], peaks: DisjointSlice<f32>) {
    in_registers::<16, 2>(samples, peaks);
}

/// A ring of 64 words in registers.
#[kernel(block(128), linear)]
pub fn spill_registers_64(samples: &[f32], peaks: DisjointSlice<f32>) {
    in_registers::<64, 8>(samples, peaks);
}

/// The same with so few registers that 16 blocks are resident on a multiprocessor: 32 for a thread.
#[kernel(block(128), min_blocks(16), linear)]
pub fn spill_bounded_64(samples: &[f32], peaks: DisjointSlice<f32>) {
    in_registers::<64, 8>(samples, peaks);
}

/// A ring of 16 words in shared memory: 8 KB for a block.
#[kernel(block(128), linear)]
pub fn spill_shared_16(
    block: Block<128>,
    rings: Shared<[[f32; 128]; 16]>,
    samples: &[f32],
    peaks: DisjointSlice<f32>,
) {
    in_shared_memory(block, rings, samples, peaks);
}

/// A ring of 64 words in shared memory: 32 KB for a block.
#[kernel(block(128), linear)]
pub fn spill_shared_64(
    block: Block<128>,
    rings: Shared<[[f32; 128]; 64]>,
    samples: &[f32],
    peaks: DisjointSlice<f32>,
) {
    in_shared_memory(block, rings, samples, peaks);
}

/// The ring has an index that is known only when the kernel runs.
#[gpu_only]
#[inline(always)]
fn in_local_memory<const N: usize>(samples: &[f32], mut peaks: DisjointSlice<f32>) {
    let (channel, channels) = (thread::linear_index(), peaks.len());
    if let Some(to) = peaks.get_mut(channel) {
        let (mut ring, mut at, mut peak) = ([0.0; N], 0, 0.0);
        let mut next = channel.get();
        while next < samples.len() {
            let loaded = load_ahead(samples, next, channels);
            unroll::<AHEAD>(|k| {
                let sample = loaded[k] + ECHO * ring[at];
                ring[at] = sample;
                peak = f32::max(peak, sample.abs());
                at = (at + 1) % N;
            });
            next += AHEAD * channels;
        }
        *to = peak;
    }
}

/// The same in a column of shared memory, which no other thread uses. A warp's words of a row
/// are in 32 banks.
#[gpu_only]
#[inline(always)]
fn in_shared_memory<const N: usize>(
    mut block: Block<128>,
    mut rings: Shared<[[f32; 128]; N]>,
    samples: &[f32],
    mut peaks: DisjointSlice<f32>,
) {
    block.update(&mut rings, |thread, mut ring| {
        let (channel, channels) = (thread.linear_index(), peaks.len());
        if let Some(to) = peaks.get_mut(channel) {
            ring.each(|_, word| *word = 0.0);
            let (mut at, mut peak) = (0, 0.0);
            let mut next = channel.get();
            while next < samples.len() {
                let loaded = load_ahead(samples, next, channels);
                unroll::<AHEAD>(|k| {
                    let sample = loaded[k] + ECHO * ring[at];
                    ring[at] = sample;
                    peak = f32::max(peak, sample.abs());
                    at = (at + 1) % N as u32;
                });
                next += AHEAD * channels;
            }
            *to = peak;
        }
    });
}

/// All `PARTS` parts of the ring, of eight words each, are written out, so that every index is a
/// constant.
#[gpu_only]
#[inline(always)]
fn in_registers<const N: usize, const PARTS: usize>(
    samples: &[f32],
    mut peaks: DisjointSlice<f32>,
) {
    let (channel, channels) = (thread::linear_index(), peaks.len());
    if let Some(to) = peaks.get_mut(channel) {
        let (mut ring, mut peak) = ([0.0; N], 0.0);
        let mut next = channel.get();
        while next < samples.len() {
            unroll::<PARTS>(|part| {
                let loaded = load_ahead(samples, next, channels);
                unroll::<AHEAD>(|k| {
                    let sample = loaded[k] + ECHO * ring[AHEAD * part + k];
                    ring[AHEAD * part + k] = sample;
                    peak = f32::max(peak, sample.abs());
                });
                next += AHEAD * channels;
            });
        }
        *to = peak;
    }
}

/// The next samples of a channel, all under way at once. After the last one come zeros, whose
/// echoes are no peaks.
#[gpu_only]
#[inline(always)]
fn load_ahead(samples: &[f32], next: usize, channels: usize) -> [f32; AHEAD] {
    let mut loaded = [0.0; AHEAD];
    unroll::<AHEAD>(|k| {
        if let Some(sample) = samples.get(next + k * channels) {
            loaded[k] = *sample;
        }
    });
    loaded
}

/// One list at a time.
#[kernel(block(256), linear)]
pub fn spill_walk_1(next: &[u32], ends: DisjointSlice<u32>, steps: u32) {
    walk::<1>(next, ends, steps);
}

/// Two lists at a time: each load of one is under way with a load of the other.
#[kernel(block(256), linear)]
pub fn spill_walk_2(next: &[u32], ends: DisjointSlice<u32>, steps: u32) {
    walk::<2>(next, ends, steps);
}

/// Four lists at a time.
#[kernel(block(256), linear)]
pub fn spill_walk_4(next: &[u32], ends: DisjointSlice<u32>, steps: u32) {
    walk::<4>(next, ends, steps);
}

/// Eight lists at a time.
#[kernel(block(256), linear)]
pub fn spill_walk_8(next: &[u32], ends: DisjointSlice<u32>, steps: u32) {
    walk::<8>(next, ends, steps);
}

/// Goes `steps` steps along `K` lists at a time, as many threads apart as there are.
#[gpu_only]
#[inline(always)]
fn walk<const K: usize>(next: &[u32], mut ends: DisjointSlice<u32>, steps: u32) {
    for first in thread::grid_stride(ends.len()).step_by(K) {
        let mut at = [0; K];
        unroll::<K>(|k| at[k] = first.ahead(k).get());
        for _ in 0..steps {
            unroll::<K>(|k| {
                if let Some(element) = next.get(at[k]) {
                    at[k] = *element as usize;
                }
            });
        }
        unroll::<K>(|k| {
            if let Some(end) = ends.get_mut(first.ahead(k)) {
                *end = at[k] as u32;
            }
        });
    }
}
