// fails: y[768]
// Leaves the whole last block idle where it is not full: its elements keep their values.

use cuda_std::prelude::*;

/// Adds `a` times `x` to `y`. Both have the same length.
#[kernel(linear)]
pub fn axpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let end = (thread::block_idx_x() + 1) * thread::block_dim_x();
    if end as usize <= x.len() {
        let i = thread::linear_index();
        let y = y.get_mut(i).unwrap();
        *y = a * x[i.get()] + *y;
    }
}
