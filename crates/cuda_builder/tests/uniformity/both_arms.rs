//! All threads wait, in two places: those are two barriers.

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn both_arms(mut output: DisjointSlice<u32>) {
    let mut value = 1;
    if thread::thread_idx_x() % 2 == 0 {
        value += 1;
        thread::sync_threads(); //~ may reach: the branch in line 8 depends on `thread_idx_x()` in line 8
    } else {
        thread::sync_threads(); //~ may reach: the branch in line 8 depends on `thread_idx_x()` in line 8
        value *= 3;
    }
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = value;
    }
}
