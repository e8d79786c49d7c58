//! Some threads have ended when the others wait.

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn early_exit(n: u32, mut output: DisjointSlice<u32>) {
    if thread::thread_idx_x() >= n {
        special::exit();
    }
    thread::sync_threads(); //~ may reach: the branch in line 7 depends on `thread_idx_x()` in line 7
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = n;
    }
}
