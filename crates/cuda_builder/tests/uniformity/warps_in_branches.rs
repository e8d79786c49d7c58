//! Shuffles and votes of all lanes, in branches of warps and of lanes.

use cuda_std::prelude::*;

#[kernel(block(256), linear)]
pub fn whole_warps(mut output: DisjointSlice<u32>) {
    let (t, i) = (thread::thread_idx_x(), thread::linear_index());
    let mut sum = t;
    if t / 32 == 0 {
        // SAFETY: all lanes of the first warp are here.
        sum = unsafe { warp::warp_shuffle_xor(u32::MAX, sum, 1, 32) }.0;
    }
    if t >= 128 {
        // SAFETY: all lanes of the last warps are here.
        while unsafe { warp::warp_vote_any(u32::MAX, sum > 3) } {
            sum /= 2;
        }
    }
    if let Some(output) = output.get_mut(i) {
        *output = sum;
    }
}

#[kernel(block(32, 8))]
pub fn rows_of_warps(n: u32, mut output: DisjointSlice<u32>) {
    let mut sum = thread::thread_idx_x();
    if thread::thread_idx_y() == 3 {
        // SAFETY: a warp is a row of the block.
        sum = unsafe { warp::warp_shuffle_xor(u32::MAX, sum, 1, 32) }.0;
    }
    if thread::block_idx_x() == n {
        if let Some(output) = output.get_mut(thread::linear_index()) {
            *output = sum;
        }
    }
}

#[kernel(block(256), linear)]
pub fn some_lanes(mut output: DisjointSlice<u32>) {
    let (t, i) = (thread::thread_idx_x(), thread::linear_index());
    let mut sum = t;
    if t < 16 {
        // SAFETY: none; the kernel is only compiled.
        sum = unsafe { warp::warp_shuffle_xor(u32::MAX, sum, 1, 16) }.0; //~ not all of them may reach: the branch in line 42
    }
    if let Some(output) = output.get_mut(i) {
        // SAFETY: none; the kernel is only compiled.
        *output = u32::from(unsafe { warp::warp_vote_all(u32::MAX, sum > 3) }); //~ not all of them may reach: the branch in line 46
    }
}
