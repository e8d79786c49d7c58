// fails: output[
// Fills up with zeros: a zero is a value as any other, and smaller than every positive one.

use cuda_std::prelude::*;

/// Counts the smaller elements in each element's tile.
#[kernel(block(64), linear)]
pub fn rank(input: &[f32], mut output: DisjointSlice<u32>) {
    #[address_space(shared)]
    static TILE: SharedCell<[f32; 64]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (t, i) = (thread::thread_idx_x() as usize, thread::linear_index());
    // SAFETY: each thread writes its own element.
    unsafe { (*tile)[t] = input.get(i.get()).copied().unwrap_or(0.0) };
    thread::sync_threads();
    if let (Some(own), Some(output)) = (input.get(i.get()), output.get_mut(i)) {
        let mut smaller = 0;
        for s in 0..64 {
            // SAFETY: all were written before the barrier, and no thread writes after it.
            if unsafe { (*tile)[s] } < *own {
                smaller += 1;
            }
        }
        *output = smaller;
    }
}
