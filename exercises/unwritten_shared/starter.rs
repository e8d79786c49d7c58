//! What nobody wrote
//!
//! Shared memory has no initial value: it holds whatever an earlier block left there. If that
//! happens to be a plausible number, the result looks plausible, too, and changes from run to run.
//!
//! It often happens in the last block. The block copies a *tile* of the input to shared memory, but
//! the input ends in the middle of the tile, and the threads past the end copy nothing. Then a loop
//! goes over the whole tile.
//!
//! # Task
//!
//! `rank` cuts the input into tiles of 64 elements, the last of which may be shorter. For each
//! element it counts how many elements of its tile are smaller. Make it right for the last tile,
//! too. The simulator reports reads of unwritten memory.

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
        // TODO: in the last block, which of these elements did somebody write?
        for s in 0..TILE {
            if *tile.add(s) < own {
                smaller += 1;
            }
        }
        *output.add(i) = smaller;
    }
}
