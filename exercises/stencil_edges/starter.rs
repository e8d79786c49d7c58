//! The neighbours of the first and the last
//!
//! A *stencil* computes each output from the neighbourhood of an input. At the two ends the
//! neighbourhood is cut off: the first element has nothing on its left, the last nothing on its
//! right. A stencil without special care reads out of bounds there, and Rust stops it with a trap.
//!
//! In C++, or through a raw pointer, it is easy to miss. The read often succeeds, and gives
//! whatever happens to lie there: padding, or the end of another array. Only two of a million
//! results are wrong, and not every time.
//!
//! What to do at the ends depends on the problem: take zero, leave the ends out, wrap around, or
//! repeat the last element.
//!
//! # Task
//!
//! `smooth` computes `(left + 2 * own + right) / 4`. It is correct in the middle. Where a neighbour
//! is missing, let the element at the end take its place: the first element is its own left
//! neighbour, the last its own right one. There may be a single element.

use cuda_std::prelude::*;

/// Smooths `input` with the weights 1, 2, 1.
#[kernel(linear)]
pub fn smooth(input: &[f32], mut output: DisjointSlice<f32>) {
    let index = thread::linear_index();
    if let Some(output) = output.get_mut(index) {
        let i = index.get();
        // TODO: the first element has no left neighbour, the last no right one.
        let left = input[i - 1];
        let right = input[i + 1];
        *output = (left + 2.0 * input[i] + right) / 4.0;
    }
}
