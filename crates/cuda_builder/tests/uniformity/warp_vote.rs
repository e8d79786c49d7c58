//! A vote of the warp gives the block's warps different answers.

use cuda_std::prelude::*;

#[kernel(linear)]
pub fn warp_vote(input: &[u32], mut output: DisjointSlice<u32>) {
    let i = thread::linear_index();
    let value = input.get(i.get()).copied().unwrap_or(0);
    // SAFETY: all lanes are here.
    if unsafe { warp::warp_vote_any(u32::MAX, value > 7) } {
        thread::sync_threads(); //~ may reach: the branch in line 10 depends on `warp_vote_any()` in line 10
    }
    if let Some(output) = output.get_mut(i) {
        *output = value;
    }
}
