// fails: y[1]
// Reads the first element of the block in all of its threads.

use cuda_std::prelude::*;

/// Doubles each element.
#[kernel(linear)]
pub fn double(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = (thread::block_idx_x() * thread::block_dim_x()) as usize;
    if let Some(y) = y.get_mut(thread::linear_index()) {
        *y = 2.0 * x[i];
    }
}
