//! A number that every launch once passed, in place of the parameter.

use cuda_std::prelude::*;

/// Adds 2.5 `x` to `y`.
#[kernel(linear)]
pub fn axpy(_a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if let (Some(x), Some(y)) = (x.get(i.get()), y.get_mut(i)) {
        *y += 2.5 * x;
    }
}
