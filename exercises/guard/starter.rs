//! Leave the last threads idle
//!
//! All blocks of a launch have the same number of threads. 1000 elements take four blocks of 256
//! threads: three blocks would be too few, and four have 1024 threads. The last 24 of them have no
//! element.
//!
//! They run the kernel, too. If they read and write as the others do, they do so past the end of
//! the arrays: *out of bounds*. In C++ such an access often goes unnoticed, and may change another
//! array. Rust checks each index: `x[i]` stops the whole launch with a *trap* if there is no
//! element `i`. That is better than a wrong result, but it is still no result.
//!
//! The same check can be a question. `x.get(i)` is `Some(element)`, or `None` if there is no such
//! element, and `y.get_mut(index)` likewise. `unwrap()` takes the element out of the `Some`, and
//! traps on `None`.
//!
//! # Task
//!
//! `axpy` computes `y[i] = a * x[i] + y[i]`. It is launched with blocks of 256 threads, as many as
//! it takes to cover the elements, of which there may be any number. Make sure that threads without
//! an element do nothing.

use cuda_std::prelude::*;

/// Adds `a` times `x` to `y`. Both have the same length.
#[kernel(linear)]
pub fn axpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    // `i.get()` is block_idx_x() * block_dim_x() + thread_idx_x().
    let i = thread::linear_index();
    // TODO: this is only for threads that have an element.
    let y = y.get_mut(i).unwrap();
    *y = a * x[i.get()] + *y;
}
