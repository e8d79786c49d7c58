//! A tile that is used again
//!
//! Here every element is compared with all others. They may be too many for shared memory, so the
//! block goes through the input tile by tile: copy a tile, wait until it is complete, compare with
//! it, copy the next tile to the same place.
//!
//! The barrier makes sure that no thread reads a tile before it is complete. But a fast warp that
//! is done with its comparisons goes on to the next round at once, and there it writes. Are the
//! other warps done, too?
//!
//! # Task
//!
//! `spread` computes the sum of the distances from each element to all others. Make sure that no
//! tile is overwritten while somebody reads it. `n` is a multiple of 128.

use cuda_std::prelude::*;

/// Elements of a tile, and threads of a block.
const TILE: usize = 128;

/// Sums up the distances from each element to all of `n`.
///
/// # Safety
/// `input` and `output` hold `n` elements, a multiple of 128, and there is a thread for each of
/// them. Blocks have 128 threads.
#[kernel(launch_bounds(128))]
pub unsafe fn spread(input: *const f32, output: *mut f32, n: u32) {
    let tile = shared_array![f32; TILE];
    let (t, i) = (thread::thread_idx_x() as usize, thread::index_1d() as usize);
    let own = *input.add(i);
    let mut sum = 0.0;
    for first in (0..n as usize).step_by(TILE) {
        // TODO: may the tile be overwritten here?
        *tile.add(t) = *input.add(first + t);
        thread::sync_threads();
        for s in 0..TILE {
            sum += (*tile.add(s) - own).abs();
        }
    }
    *output.add(i) = sum;
}
