//! The neighbours of the first and the last
//!
//! A *stencil* computes each output from the neighbourhood of an input. At the two ends the
//! neighbourhood is cut off: the first element has nothing on its left, the last nothing on its
//! right. A stencil without special care reads out of bounds there.
//!
//! That is easy to miss. On a GPU the read often succeeds, and gives whatever happens to lie there:
//! padding, or the end of another array. Only two of a million results are wrong, and not every
//! time.
//!
//! What to do at the ends depends on the problem: take zero, leave the ends out, wrap around, or
//! repeat the last element.
//!
//! # Task
//!
//! `smooth` computes `(left + 2 * own + right) / 4`. It is correct in the middle. Where a neighbour
//! is missing, let the element at the end take its place: the first element is its own left
//! neighbour, the last its own right one. `n` may be 1.

use cuda_std::prelude::*;

/// Smooths `input` with the weights 1, 2, 1.
///
/// # Safety
/// `input` and `output` hold `n` elements, and there is a thread for each of them.
#[kernel]
pub unsafe fn smooth(input: *const f32, output: *mut f32, n: u32) {
    let (i, n) = (thread::index_1d() as usize, n as usize);
    if i < n {
        // TODO: the first element has no left neighbour, the last no right one.
        let left = *input.add(i - 1);
        let right = *input.add(i + 1);
        *output.add(i) = (left + 2.0 * *input.add(i) + right) / 4.0;
    }
}
