// fails: race
// The barrier has moved to the end of the round: now a warp may read what is not there yet.

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
        // SAFETY: each thread writes its own element.
        unsafe { (*tile)[t] = input[first + t] };
        for s in 0..128 {
            // SAFETY: promised, and not kept: others may not have written yet.
            sum += (unsafe { (*tile)[s] } - own).abs();
        }
        thread::sync_threads();
    }
    *output = sum;
}
