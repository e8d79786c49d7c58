//! Twice each element, in one thread.

use cuda_std::prelude::*;

/// Doubles each element.
#[kernel(linear)]
pub fn reference(x: &[f32], mut y: DisjointSlice<f32>) {
    for i in thread::grid_stride(y.len()) {
        if let Some(y) = y.get_mut(i) {
            *y = 2.0 * x[i.get()];
        }
    }
}
