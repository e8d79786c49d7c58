// fails: y[256]
// The number in the block is not the number in the grid: all blocks read the first 256 elements.

use cuda_std::prelude::*;

/// Doubles each element.
#[kernel(linear)]
pub fn double(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::thread_idx_x() as usize;
    if let Some(y) = y.get_mut(thread::linear_index()) {
        *y = 2.0 * x[i];
    }
}
