//! A tile that is used again: two barriers, one for each direction

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
        *tile.add(t) = *input.add(first + t);
        // The tile is complete.
        thread::sync_threads();
        for s in 0..TILE {
            sum += (*tile.add(s) - own).abs();
        }
        // Nobody reads it any more.
        thread::sync_threads();
    }
    *output.add(i) = sum;
}
