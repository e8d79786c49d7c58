//! Threads go around a loop a different number of times.

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn thread_loop(mut output: DisjointSlice<u32>) {
    let mut sum = 0;
    for step in 0..thread::thread_idx_x() {
        thread::sync_threads(); //~ may reach: the branch in line 8 depends on `thread_idx_x()` in line 8
        sum += step;
    }
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = sum;
    }
}
