//! Branches on the block, on the grid and on parameters.

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn uniform_branch(which: bool, mut output: DisjointSlice<u32>) {
    if thread::block_idx_x() == 0 {
        thread::sync_threads();
    }
    if which && thread::grid_dim_x() > 2 {
        thread::sync_threads();
    } else {
        thread::sync_threads();
    }
    if let Some(output) = output.get_mut(thread::linear_index()) {
        *output = 1;
    }
}
