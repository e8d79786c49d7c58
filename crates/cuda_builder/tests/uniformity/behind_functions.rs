//! Functions that are never inlined, with a barrier in them and without.

use cuda_std::prelude::*;

#[inline(never)]
fn wait_if(condition: bool, value: u32) -> u32 {
    if condition {
        thread::sync_threads(); //~ may reach: the branch in line 7 depends on `thread_idx_x()` in line 21
    }
    value + 1
}

#[inline(never)]
fn scale(value: u32) -> u32 {
    (0..value).map(|step| step * step).sum()
}

#[kernel(linear)]
pub fn behind_functions(n: u32, mut output: DisjointSlice<u32>) {
    let all = wait_if(n > 4, n);
    let some = wait_if(thread::thread_idx_x() > 4, n);
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = scale(all) + scale(some);
    }
}
