//! A tile that is used again: two barriers, one for each direction

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
        // SAFETY: no thread reads the tile any more, and each thread writes its own element.
        unsafe { (*tile)[t] = input[first + t] };
        // The tile is complete.
        thread::sync_threads();
        for s in 0..128 {
            // SAFETY: the tile is complete, and no thread writes it before the next barrier.
            sum += (unsafe { (*tile)[s] } - own).abs();
        }
        // No thread reads it any more.
        thread::sync_threads();
    }
    *output = sum;
}
