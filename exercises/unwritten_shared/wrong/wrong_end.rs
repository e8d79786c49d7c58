// fails: nothing wrote
// Ends the loop at the end of the input, but `s` counts from the beginning of the tile.

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
    if i < n {
        *tile.add(t) = *input.add(i);
    }
    thread::sync_threads();
    if i < n {
        let own = *tile.add(t);
        let mut smaller = 0;
        for s in 0..TILE.min(n) {
            if *tile.add(s) < own {
                smaller += 1;
            }
        }
        *output.add(i) = smaller;
    }
}
