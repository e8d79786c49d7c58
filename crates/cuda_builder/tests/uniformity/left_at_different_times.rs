//! What a loop counts is the same in all threads in each trip, but not after threads have left it.

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn left_at_different_times(mut output: DisjointSlice<u32>) {
    let mut trips = 0;
    while trips < thread::thread_idx_x() {
        trips += 2;
    }
    for _ in 0..trips {
        thread::sync_threads(); //~ may reach: the branch in line 11 depends on `thread_idx_x()` in line 8
    }
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = trips;
    }
}
