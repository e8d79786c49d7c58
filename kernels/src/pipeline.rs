//! Pipelines: the next tiles are on their way while a block works on one.
//!
//! A block walks over tiles of an array: it copies each to shared memory and computes with it. By
//! Little's law a multiprocessor gets as many bytes in a second as are in flight at once, over the
//! latency of memory ([`launch`](crate::launch)). A block that loads a tile, uses it and only then
//! loads the next has nothing in flight while it computes, and otherwise one tile.
//!
//! | kernel | while a tile is used | a tile on its way is in |
//! | --- | --- | --- |
//! | [`pipeline_load`] | nothing is in flight | registers |
//! | [`pipeline_registers`] | the next tile | registers |
//! | [`pipeline_async_2`] | the next tile | shared memory, by `cp.async` |
//! | [`pipeline_async_3`], [`pipeline_async_4`] | the next two, the next three | the same |
//! | `pipeline_bulk_2` to `_4` (`kernels/best`) | the next one to three | the same, in bulk |
//!
//! There are two ways to more bytes in flight. More blocks each have their own tiles, until the
//! multiprocessor is full. Or each block has more stages: `N` tiles in shared memory, of which it
//! uses one while `N - 1` are on their way. Stages need neither threads nor registers, and so help
//! where occupancy is low.
//!
//! A thread puts its copies of a tile into a group, one for each tile. When it waits until all but
//! the last `N - 2` groups have arrived, its part of the next tile is there; after the barrier that
//! follows, so are the other threads' parts. The same barrier says that all threads have read the
//! tile before, whose place the next copies take.
//!
//! What to look for: GB/s against bytes in flight on a multiprocessor, and at which occupancy. A
//! copy through registers is a load and a store, `cp.async` one instruction (the stages' addresses
//! take more than that saves), and the copy engine's one for the whole tile.
//!
//! # Shapes
//!
//! A sample has four channels. A record is 512 samples: one period of a signal, whose last sample
//! is followed by its first. Each thread adds up how much the channels change from sample to
//! sample, at two samples of each record of its block. Grids of any size; `sums` has an element for
//! each thread.

#[gpu_only]
use cuda_std::phases::Own;
use cuda_std::phases::{Block, Shared};
use cuda_std::vector::f32x4;
use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{
    address_space, pipeline, shared::SharedAddress, shared::SharedCell, thread, unroll,
};

/// Threads of a block.
pub const BLOCK: u32 = 256;

/// Samples of a record, which is a tile of 8 KiB.
pub const RECORD: u32 = 512;

/// A record in shared memory.
#[gpu_only]
type Tile = [f32x4; RECORD as usize];

/// Loads a record, uses it, loads the next: nothing is in flight while a block computes.
#[kernel(block(256), linear)]
pub fn pipeline_load(
    mut block: Block<256>,
    mut tile: Shared<[f32x4; 512]>,
    samples: &[f32x4],
    mut sums: DisjointSlice<f32>,
) {
    let (first, step) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    let (mut sum, mut record) = (0.0, first);
    while record < count(samples) {
        let words = load(samples, record);
        block.update(&mut tile, |_, own| store(own, words));
        block.each(|thread| sum += change(tile.read(thread)));
        record += step;
    }
    block.finish(|thread| {
        if let Some(to) = sums.get_mut(thread.linear_index()) {
            *to = sum;
        }
    });
}

/// The next record through registers: its loads start before the block computes, and are stored to
/// shared memory afterwards.
#[kernel(block(256), linear)]
pub fn pipeline_registers(
    mut block: Block<256>,
    mut tile: Shared<[f32x4; 512]>,
    samples: &[f32x4],
    mut sums: DisjointSlice<f32>,
) {
    let (first, step) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    let (mut sum, mut record) = (0.0, first);
    let mut next = load(samples, first);
    while record < count(samples) {
        block.update(&mut tile, |_, own| store(own, next));
        next = load(samples, record + step);
        block.each(|thread| sum += change(tile.read(thread)));
        record += step;
    }
    block.finish(|thread| {
        if let Some(to) = sums.get_mut(thread.linear_index()) {
            *to = sum;
        }
    });
}

/// Two stages: while one record is used, the next is copied.
#[kernel(block(256), linear)]
pub fn pipeline_async_2(samples: &[f32x4], sums: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGES: SharedCell<[Tile; 2]> = SharedCell::uninit();
    // SAFETY: no one else uses the stages.
    unsafe { asynchronous::<2, 0>(STAGES.as_mut_ptr(), samples, sums) };
}

/// Three stages: the next two records are copied.
#[kernel(block(256), linear)]
pub fn pipeline_async_3(samples: &[f32x4], sums: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGES: SharedCell<[Tile; 3]> = SharedCell::uninit();
    // SAFETY: no one else uses the stages.
    unsafe { asynchronous::<3, 1>(STAGES.as_mut_ptr(), samples, sums) };
}

/// Four stages: the next three records are copied.
#[kernel(block(256), linear)]
pub fn pipeline_async_4(samples: &[f32x4], sums: DisjointSlice<f32>) {
    #[address_space(shared)]
    static STAGES: SharedCell<[Tile; 4]> = SharedCell::uninit();
    // SAFETY: no one else uses the stages.
    unsafe { asynchronous::<4, 2>(STAGES.as_mut_ptr(), samples, sums) };
}

/// Walks over the block's records in `N` stages. `LEFT` is `N - 2`: the groups of copies that may
/// still be on their way when the next record is there.
///
/// # Safety
/// The stages are in shared memory, and all threads of a block of 256 come here, once.
#[gpu_only]
#[inline(always)]
unsafe fn asynchronous<const N: usize, const LEFT: u32>(
    stages: *mut [Tile; N],
    samples: &[f32x4],
    mut sums: DisjointSlice<f32>,
) {
    let (first, step) = (thread::block_idx_x() as usize, thread::grid_dim_x() as usize);
    // As an index of the array, a stage would be checked each time.
    let stages = stages.cast::<Tile>();
    for ahead in 0..N - 1 {
        // SAFETY: there are `N` stages, and no thread uses them yet.
        unsafe { start_copies(stages.add(ahead), samples, first + ahead * step) };
    }
    let (mut sum, mut record, mut stage) = (0.0, first, 0);
    while record < count(samples) {
        pipeline::wait_prior::<LEFT>();
        thread::sync_threads();
        let free = if stage == 0 { N - 1 } else { stage - 1 };
        // SAFETY: both are stages. This thread's copies of the record have arrived, and before the
        // barrier the other threads' too. All of them have read the record before, whose stage is
        // free again.
        unsafe {
            start_copies(stages.add(free), samples, record + (N - 1) * step);
            sum += change(&*stages.add(stage));
        }
        stage = if stage == N - 1 { 0 } else { stage + 1 };
        record += step;
    }
    if let Some(to) = sums.get_mut(thread::linear_index()) {
        *to = sum;
    }
}

/// Starts the copies of this thread's samples of a record, as a group. Beyond the last record they
/// are zeros, and the group keeps the count.
///
/// # Safety
/// The tile is in shared memory, and no thread uses it until the copies are waited for.
#[gpu_only]
#[inline(always)]
unsafe fn start_copies(tile: *mut Tile, samples: &[f32x4], record: usize) {
    let to = SharedAddress::of(tile).cast::<f32x4>().add(thread::thread_idx_x());
    let from = record * RECORD as usize + thread::thread_idx_x() as usize;
    unroll::<2>(|k| {
        // SAFETY: these samples are this thread's.
        unsafe { pipeline::fetch(to.add(BLOCK * k as u32), samples.get(from + 256 * k)) };
    });
    pipeline::commit();
}

/// The number of records.
#[gpu_only]
#[inline(always)]
fn count(samples: &[f32x4]) -> usize {
    samples.len() / RECORD as usize
}

/// Loads this thread's samples of a record, both at once; zeros beyond the last record.
#[gpu_only]
#[inline(always)]
fn load(samples: &[f32x4], record: usize) -> [f32x4; 2] {
    let from = record * RECORD as usize + thread::thread_idx_x() as usize;
    [0, 256].map(|k| samples.get(from + k).copied().unwrap_or_default())
}

/// Stores them to shared memory.
#[gpu_only]
#[inline(always)]
fn store(mut own: Own<'_, Tile, 256, 1>, words: [f32x4; 2]) {
    let mut k = 0;
    own.each(|_, word| {
        *word = words[k];
        k += 1;
    });
}

/// How much the channels change at this thread's samples of a record.
#[gpu_only]
#[inline(always)]
fn change(record: &Tile) -> f32 {
    let mut sum = 0.0;
    unroll::<2>(|k| {
        let i = thread::thread_idx_x() as usize + 256 * k;
        let change = (record[(i + 1) % RECORD as usize] - record[i]).to_array();
        unroll::<4>(|channel| sum += change[channel].abs());
    });
    sum
}
