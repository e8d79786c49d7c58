// fails: trap
// Lets thread n through, whose element would be the one after the last.

use cuda_std::prelude::*;

/// Adds `a` times `x` to `y`. Both have the same length.
#[kernel(linear)]
pub fn axpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::linear_index();
    if i.get() <= x.len() {
        let y = y.get_mut(i).unwrap();
        *y = a * x[i.get()] + *y;
    }
}
