//! Read only what was written: the loop ends where the tile does

use cuda_std::prelude::*;

/// Counts the smaller elements in each element's tile.
#[kernel(block(64), linear)]
pub fn rank(input: &[f32], mut output: DisjointSlice<u32>) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // The elements of this tile: 64, or what is left from the tile's first on.
    let count = (input.len() - (i.get() - t)).min(64);
    if let Some(own) = input.get(i.get()) {
        // SAFETY: each thread writes its own element.
        unsafe { (*tile)[t] = *own };
    }
    thread::sync_threads();
    if let (Some(own), Some(output)) = (input.get(i.get()), output.get_mut(i)) {
        let mut smaller = 0;
        for s in 0..count {
            // SAFETY: these were written before the barrier, and no thread writes after it.
            if unsafe { (*tile)[s] } < *own {
                smaller += 1;
            }
        }
        *output = smaller;
    }
}
