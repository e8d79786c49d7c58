//! Adds up in the same order, a thread for each sum.

use cuda_std::prelude::*;

/// A sum for each thread of the blocks, which take tiles in turn.
#[kernel(linear)]
pub fn reference(input: &[f32], mut output: DisjointSlice<f32>) {
    let blocks = output.len() / 256;
    for thread in thread::grid_stride(output.len()) {
        let (block, t) = (thread.get() / 256, thread.get() % 256);
        let mut sum = 0.0;
        for tile in (block..input.len().div_ceil(1024)).step_by(blocks) {
            let mut of_tile = 0.0;
            for i in [t, t + 256, t + 512, t + 768] {
                for k in 0..24 {
                    let at = 1024 * tile + (i + k + 1) % 1024;
                    of_tile += input.get(at).copied().unwrap_or(0.0);
                }
            }
            sum += of_tile;
        }
        if let Some(to) = output.get_mut(thread) {
            *to = sum;
        }
    }
}
