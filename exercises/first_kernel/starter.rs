//! Your first kernel
//!
//! - A *kernel* is a function that runs on the GPU, once in each thread of a launch.
//! - A *thread* runs the kernel's body from top to bottom, with its own variables.
//! - A *block* is a group of threads, here 256. It runs on one of the GPU's multiprocessors.
//! - The *grid* is all blocks of the launch. They run in any order, many at a time.
//! - All threads run the same code. Each knows its number in its block, and its block's number.
//! - So each finds its own element: thread 3 of block 2 takes element 515, which is 2 * 256 + 3.
//!
//! All threads may read any element of the input, `x`: it is an ordinary slice. The output is a
//! `DisjointSlice`, of which each thread reaches only its own element: `y.get_mut(index)` takes the
//! index that `thread::linear_index()` makes, and no other thread gets the same one. So two threads
//! never write the same element, and the kernel needs no `unsafe`. `linear` says that the grid and
//! its blocks have one dimension.
//!
//! # Task
//!
//! Compute `y[i] = 2 * x[i]`, one element in each thread. There are as many threads as elements.
//!
//! As it is, every thread copies element 0 of `x` to its own element of `y`. Let `i` be the number
//! of the thread's own element, and correct the line that writes it. You need:
//!
//! - `thread::thread_idx_x()`: the thread's number in its block, from 0;
//! - `thread::block_idx_x()`: the block's number in the grid, from 0;
//! - `thread::block_dim_x()`: how many threads a block has;
//! - `x[i]`, where `i` must be a `usize`. The numbers above are `u32`: write `number as usize`.

use cuda_std::prelude::*;

/// Doubles each element.
#[kernel(linear)]
pub fn double(x: &[f32], mut y: DisjointSlice<f32>) {
    // TODO: the number of this thread's element.
    let i = 0;
    if let Some(y) = y.get_mut(thread::linear_index()) {
        // TODO: twice the element.
        *y = x[i];
    }
}
