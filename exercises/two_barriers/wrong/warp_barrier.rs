// fails: race
// The second barrier is one of the warp: the other warps may still read the tile.

use cuda_std::prelude::*;

/// Sums up the distances from each element to all elements.
#[kernel(block(128), linear)]
pub fn spread(input: &[f32], mut output: DisjointSlice<f32>) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 128]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // There are as many threads as elements.
    let (own, output) = (input[i.get()], output.get_mut(i).unwrap());

    let mut sum = 0.0;
    for first in (0..input.len()).step_by(128) {
        // SAFETY: promised, and not kept: other warps may still read.
        unsafe { (*tile)[t] = input[first + t] };
        thread::sync_threads();
        for s in 0..128 {
            // SAFETY: the tile is complete.
            sum += (unsafe { (*tile)[s] } - own).abs();
        }
        // SAFETY: all 32 lanes of the warp come here.
        unsafe { warp::sync_warp(warp::FULL) };
    }
    *output = sum;
}
