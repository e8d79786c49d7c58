//! Cells of a parameter.

use core::cell::Cell;

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn cells(flags: &[Cell<u32>], mut output: DisjointSlice<u32>) {
    flags[1].set(thread::thread_idx_x());
    if flags[0].get() > 1 {
        thread::sync_threads(); //~ the branch in line 10 depends on a value in memory
    }
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = 1;
    }
}
