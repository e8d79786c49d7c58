// fails: bank_conflicts
//! A row from its start: all lanes read from one bank.

use cuda_std::phases::{Block, Shared};
use cuda_std::prelude::*;
use cuda_std::unroll;

/// Elements of a block: 32 for each thread.
const CHUNK: usize = 2048;

/// The textbook kernel.
#[kernel(block(64), linear)]
pub fn histogram_plain(input: &[u8], mut counts: DisjointSlice<u32>) {
    #[address_space(shared)]
    static COUNTERS: SharedCell<[[u32; 64]; 64]> = SharedCell::uninit();
    let counters = COUNTERS.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    let first = CHUNK * thread::block_idx_x() as usize + t;

    for bin in 0..64 {
        // SAFETY: no other thread has this column before the barrier.
        unsafe { (*counters)[bin][t] = 0 };
    }
    unroll::<32>(|step| {
        if let Some(value) = input.get(first + 64 * step) {
            // SAFETY: the same.
            unsafe { (*counters)[*value as usize % 64][t] += 1 };
        }
    });
    thread::sync_threads();
    let mut sum = 0;
    for step in 0..64 {
        // SAFETY: after the barrier all threads only read.
        sum += unsafe { (*counters)[t][(t + step) % 64] };
    }
    if let Some(count) = counts.get_mut(thread::linear_index()) {
        *count = sum;
    }
}

/// The same in phases.
#[kernel(block(64), linear)]
pub fn histogram_phased(
    mut block: Block<64>,
    mut counters: Shared<[[u32; 64]; 64]>,
    input: &[u8],
    mut counts: DisjointSlice<u32>,
) {
    block.update(&mut counters, |thread, mut own| {
        own.each(|_, counter| *counter = 0);
        let first = CHUNK * thread::block_idx_x() as usize + thread.x() as usize;
        unroll::<32>(|step| {
            if let Some(value) = input.get(first + 64 * step) {
                own[u32::from(*value) % 64] += 1;
            }
        });
    });
    block.finish(|thread| {
        let (counters, t) = (counters.read(thread), thread.x() as usize);
        let sum = (0..64).map(|step| counters[t][step]).sum();
        if let Some(count) = counts.get_mut(thread.linear_index()) {
            *count = sum;
        }
    });
}
