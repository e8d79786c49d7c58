//! Read only what was written
//!
//! Shared memory has no initial value: it holds whatever an earlier block left there. If that
//! happens to be a plausible number, the result looks plausible, too, and changes from run to run.
//! Part of what `unsafe` promises is that nothing is read before it is written.
//!
//! It often happens in the last block. The block copies a *tile* of the input to shared memory, but
//! the input ends in the middle of the tile, and the threads past the end copy nothing. Then a loop
//! goes over the whole tile.
//!
//! # Task
//!
//! `rank` cuts the input into tiles of 64 elements, the last of which may be shorter. For each
//! element it counts how many elements of its tile are smaller. Make it right for the last tile,
//! too. The simulator reports reads of uninitialised memory.

use cuda_std::prelude::*;

/// Counts the smaller elements in each element's tile.
#[kernel(block(64), linear)]
pub fn rank(input: &[f32], mut output: DisjointSlice<u32>) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    if let Some(own) = input.get(i.get()) {
        // SAFETY: each thread writes its own element.
        unsafe { (*tile)[t] = *own };
    }
    thread::sync_threads();
    if let (Some(own), Some(output)) = (input.get(i.get()), output.get_mut(i)) {
        let mut smaller = 0;
        for s in 0..64 {
            // SAFETY: TODO: in the last block, which of these elements were written?
            if unsafe { (*tile)[s] } < *own {
                smaller += 1;
            }
        }
        *output = smaller;
    }
}
