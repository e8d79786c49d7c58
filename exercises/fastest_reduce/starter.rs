//! The fastest sum
//!
//! Write the fastest sum of `n` integers: any 32 bits, added without regard to overflow
//! (`wrapping_add`), for any `n`. There is no kernel to begin with. One launch may do it, or up to
//! three with partial sums in between.
//!
//! A line `//@ launch KERNEL: grid = ..., block = ..., shared = ...` in this file launches a
//! kernel. `grid` and `block` are a number, or a list of up to three; `shared` (bytes of dynamic
//! shared memory) may be left out. Expressions in quotes know the sizes, `block.x` (`.y`, `.z`) and
//! `multiprocessors`, and have `+ - * / %`, `ceil`, `floor`, `min` and `max`.
//! Launches happen in the order of their lines.
//!
//! # Task
//!
//! Up to three launches, all of kernels with the parameters below, right for any `n` and free of
//! races. Then their time counts: predicted for 2^22 integers, beside the time of copying these at
//! the GPU's bandwidth. (L2 is full of modified data at first, which makes room for what is read.)
//! 1.8 times that passes; the report says what holds the kernels back and what the next grade
//! takes. `--device sim:MODEL` is for another GPU than an H200.

use cuda_std::prelude::*;

//@ launch sum: grid = 1, block = 32

/// Adds the numbers up.
///
/// # Safety
/// `input` holds `n` integers, `output` one, which is 0 before the first launch. `scratch` has room
/// for 4096, which are undefined at first.
#[kernel]
pub unsafe fn sum(input: *const i32, scratch: *mut i32, output: *mut i32, n: u32) {}
