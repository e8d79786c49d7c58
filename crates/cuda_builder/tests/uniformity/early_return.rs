//! Some threads have returned when the others wait.

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn early_return(n: u32, mut output: DisjointSlice<u32>) {
    let i = thread::linear_index();
    if i.get() >= n as usize {
        return;
    }
    thread::sync_threads(); //~ may reach: the branch in line 8 depends on `linear_index()` in line 7
    if let Some(output) = output.get_mut(i) {
        *output = n;
    }
}
