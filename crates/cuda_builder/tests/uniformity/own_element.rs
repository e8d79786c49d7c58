//! A thread's own element of an output, and an input's element at the thread's index.

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn own_element(input: &[u32], mut output: DisjointSlice<u32>) {
    let i = thread::linear_index();
    let mut own = 0;
    if let Some(output) = output.get_mut(i) {
        own = *output;
        *output = own + 1;
    }
    if own > 3 {
        thread::sync_threads(); //~ may reach: the branch in line 13 depends on a value in memory that threads may write, read in line 10
    }
    if input[thread::thread_idx_x() as usize] > 3 {
        thread::sync_threads(); //~ may reach: the branch in line 16 depends on `thread_idx_x()` in line 16
    }
}
