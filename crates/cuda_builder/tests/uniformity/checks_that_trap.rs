//! A bounds check that fails ends the launch, so nobody waits behind it.

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn checks_that_trap(input: &[u32], mut output: DisjointSlice<u32>) {
    let i = thread::linear_index();
    let value = input[i.get()] / input[thread::thread_idx_x() as usize + 1];
    thread::sync_threads();
    if let Some(output) = output.get_mut(i) {
        *output = value;
    }
}
