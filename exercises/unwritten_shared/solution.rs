//! What nobody wrote, nobody reads: the loop ends where the tile does

use cuda_std::prelude::*;

/// Elements of a tile, and threads of a block.
const TILE: usize = 64;

/// Counts the smaller elements in each element's tile.
///
/// # Safety
/// `input` and `output` hold `n` elements, and there is a thread for each of them. Blocks have 64
/// threads.
#[kernel(launch_bounds(64))]
pub unsafe fn rank(input: *const f32, output: *mut u32, n: u32) {
    let tile = shared_array![f32; TILE];
    let (t, i, n) = (thread::thread_idx_x() as usize, thread::index_1d() as usize, n as usize);
    // The elements of this tile: 64, or what is left from the tile's first on, i - t.
    let count = (n - (i - t)).min(TILE);
    if t < count {
        *tile.add(t) = *input.add(i);
    }
    thread::sync_threads();
    if t < count {
        let own = *tile.add(t);
        let mut smaller = 0;
        for s in 0..count {
            if *tile.add(s) < own {
                smaller += 1;
            }
        }
        *output.add(i) = smaller;
    }
}
