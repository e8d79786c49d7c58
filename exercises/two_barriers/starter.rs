//! A tile that is used again
//!
//! Here every element is compared with all others. They may be too many for shared memory, so the
//! block goes through the input tile by tile: copy a tile, wait until it is complete, compare with
//! it, copy the next tile to the same place.
//!
//! The barrier makes sure that no thread reads a tile before it is complete. But a fast warp that
//! has finished its comparisons goes on to the next round at once, and there it writes. Are the
//! other warps done, too?
//!
//! # Task
//!
//! `spread` computes the sum of the distances from each element to all others. Make sure that no
//! tile is overwritten while a thread still reads it. The number of elements is a multiple of 128.

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
        // SAFETY: TODO: may the tile be overwritten here?
        unsafe { (*tile)[t] = input[first + t] };
        thread::sync_threads();
        for s in 0..128 {
            // SAFETY: the tile is complete. TODO: for how long?
            sum += (unsafe { (*tile)[s] } - own).abs();
        }
    }
    *output = sum;
}
