//! Your first kernel: twice each element

use cuda_std::prelude::*;

/// Doubles each element.
#[kernel(linear)]
pub fn double(x: &[f32], mut y: DisjointSlice<f32>) {
    // The blocks before this one have taken `block_idx * block_dim` elements. The number is also
    // `thread::linear_index().get()`, as later exercises write it.
    let i = (thread::block_idx_x() * thread::block_dim_x() + thread::thread_idx_x()) as usize;
    if let Some(y) = y.get_mut(thread::linear_index()) {
        *y = 2.0 * x[i];
    }
}
