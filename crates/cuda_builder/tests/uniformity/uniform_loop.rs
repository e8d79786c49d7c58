//! Loops whose trips are parameters, loads of them, or counted: the same in all threads.

use cuda_std::prelude::*;

#[kernel(block(256), linear)]
pub fn uniform_loop(counts: &[u32], steps: u32, mut output: DisjointSlice<u32>) {
    let mut sum = thread::thread_idx_x();
    for step in 0..steps {
        thread::sync_threads();
        sum += step;
    }
    for _ in 0..counts[thread::block_idx_x() as usize] {
        thread::sync_threads();
        sum *= 3;
    }
    let mut width = 128;
    while width > 0 {
        thread::sync_threads();
        if thread::thread_idx_x() < width {
            sum ^= width;
        }
        width /= 2;
    }
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = sum;
    }
}
