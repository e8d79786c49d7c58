//! A multiple of one vector added to another, in one thread.

use cuda_std::prelude::*;

/// Adds `a` times `x` to `y`.
#[kernel(linear)]
pub fn reference(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    for i in thread::grid_stride(y.len()) {
        if let Some(y) = y.get_mut(i) {
            *y = a * x[i.get()] + *y;
        }
    }
}
