//! What do stages cost?
//!
//! A block walks over four tiles of 4096 words (16 KiB), with one to three stages in shared memory.
//! While it works on one stage, the next tiles are copied to the others: more bytes are in flight,
//! with no more threads. But stages take shared memory: a multiprocessor of an H200 has 228 KiB for
//! all its blocks, and each block takes 1 KiB more than its kernel asks for. A multiprocessor holds
//! at most 2048 threads.
//!
//! Occupancy: the threads that a multiprocessor holds at once, over the most that it can hold.
//!
//! # Task
//!
//! Predict barriers, and the occupancy on an H200.

use cuda_std::prelude::*;
use cuda_std::{pipeline, shared::SharedAddress};

/// A tile of 16 KiB.
type Tile = [u32; 4096];

/// One stage: a tile is copied, used, and then the next is copied.
#[kernel(block(256), linear)]
pub fn one(input: &[u32], mut output: DisjointSlice<u32>) {
    #[address_space(shared)]
    static STAGE: SharedCell<Tile> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let mut sum = 0;
    for tile in 0..4 {
        // SAFETY: all threads have read the stage.
        unsafe { start_copies(stage, input, tile) };
        pipeline::wait_prior::<0>();
        thread::sync_threads();
        // SAFETY: all copies have arrived.
        sum += work(unsafe { &*stage });
        thread::sync_threads();
    }
    finish(&mut output, sum);
}

/// Two stages.
#[kernel(block(256), linear)]
pub fn two(input: &[u32], mut output: DisjointSlice<u32>) {
    #[address_space(shared)]
    static STAGES: SharedCell<[Tile; 2]> = SharedCell::uninit();
    // SAFETY: nothing else uses the stages.
    let sum = unsafe { walk::<2, 0>(STAGES.as_mut_ptr(), input) };
    finish(&mut output, sum);
}

/// Three stages.
#[kernel(block(256), linear)]
pub fn three(input: &[u32], mut output: DisjointSlice<u32>) {
    #[address_space(shared)]
    static STAGES: SharedCell<[Tile; 3]> = SharedCell::uninit();
    // SAFETY: nothing else uses the stages.
    let sum = unsafe { walk::<3, 1>(STAGES.as_mut_ptr(), input) };
    finish(&mut output, sum);
}

/// `N` stages, where `LEFT` is `N - 2`.
///
/// # Safety
/// The stages are in shared memory, and all threads come here once.
#[inline(always)]
unsafe fn walk<const N: usize, const LEFT: u32>(stages: *mut [Tile; N], input: &[u32]) -> u32 {
    for ahead in 0..N - 1 {
        // SAFETY: no thread uses the stages yet.
        unsafe { start_copies(&raw mut (*stages)[ahead], input, ahead) };
    }
    let mut sum = 0;
    for tile in 0..4 {
        pipeline::wait_prior::<LEFT>();
        thread::sync_threads();
        // SAFETY: all copies of this tile have arrived, and all threads have read the one before.
        unsafe {
            start_copies(&raw mut (*stages)[(tile + N - 1) % N], input, tile + N - 1);
            sum += work(&(*stages)[tile % N]);
        }
    }
    sum
}

/// Starts this thread's copies of a tile, as a group; beyond the last tile they are zeros.
///
/// # Safety
/// The stage is in shared memory. No thread uses it until the copies are waited for.
#[inline(always)]
unsafe fn start_copies(stage: *mut Tile, input: &[u32], tile: usize) {
    let t = thread::thread_idx_x();
    let to = SharedAddress::of(stage).cast::<u32>();
    for i in 0..16 {
        let word = t + 256 * i;
        // SAFETY: these words are this thread's.
        unsafe { pipeline::fetch(to.add(word), input.get(4096 * tile + word as usize)) };
    }
    pipeline::commit();
}

/// Adds up words of a tile that other threads have copied.
#[inline(always)]
fn work(tile: &Tile) -> u32 {
    let mut sum = 0_u32;
    for i in 0..16 {
        sum = sum.wrapping_add(tile[4095 - (thread::thread_idx_x() as usize + 256 * i)]);
    }
    sum
}

/// Writes the sum of this thread.
#[inline(always)]
fn finish(output: &mut DisjointSlice<u32>, sum: u32) {
    if let Some(to) = output.get_mut(thread::linear_index()) {
        *to = sum;
    }
}
