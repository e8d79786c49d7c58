//! Leave the last threads idle
//!
//! All blocks of a launch have the same number of threads. 1000 elements take four blocks of 256
//! threads: three blocks would be too few, and four have 1024 threads. The last 24 of them have no
//! element.
//!
//! They run the kernel all the same. If they read and write as the others do, they do so past the
//! end of the arrays: *out of bounds*. On a GPU such an access often goes unnoticed, and may change
//! another array. The simulator reports it.
//!
//! # Task
//!
//! `axpy` computes `y[i] = a * x[i] + y[i]`. It is launched with blocks of 256 threads, as many as
//! it takes to cover `n` elements, and `n` may be any number. Make sure that threads without an
//! element do nothing.

use cuda_std::prelude::*;

/// Adds `a` times `x` to `y`.
///
/// # Safety
/// `x` and `y` hold `n` elements, and there is a thread for each of them.
#[kernel]
pub unsafe fn axpy(a: f32, x: *const f32, y: *mut f32, n: u32) {
    // The same as block_idx_x() * block_dim_x() + thread_idx_x().
    let i = thread::index_1d() as usize;
    // TODO: this is only for threads that have an element.
    *y.add(i) = a * *x.add(i) + *y.add(i);
}
