//! The fastest sum
//!
//! Write the fastest sum of `n` integers: any 32 bits, added without regard to overflow
//! (`wrapping_add`), for any `n`. There is no kernel to begin with. One launch may do it, or up to
//! three with partial sums in between.
//!
//! A line `//@ launch KERNEL: grid = ..., block = ..., shared = ...` in this file launches a
//! kernel. `grid` and `block` are a number, or a list of up to three; `shared` (bytes of dynamic
//! shared memory) may be left out. Expressions in quotes can use `n`,
//! `block.x` (`.y`, `.z`), `multiprocessors`, `+ - * / %`, `ceil`, `floor`, `min` and `max`.
//! Launches happen in the order of their lines.
//!
//! # Task
//!
//! Up to three launches, all of kernels with the parameters below, right for any `n` and free of
//! races. Then their time counts. It is predicted for 2^22 integers on an H200 (`--device
//! sim:MODEL`: on another GPU), and compared with that of a copy of the integers at the GPU's
//! bandwidth. (A copy, because L2 is full of modified data at first: as much is written to DRAM as
//! is read.) Up to 1.8 times the copy's time passes; the report says what limits the kernels, and
//! what time the next grade takes.

use cuda_std::prelude::*;

//@ launch sum: grid = 1, block = 32

/// Adds the numbers up.
///
/// # Safety
/// `input` holds `n` integers, `output` one, which is 0 before the first launch. `scratch` has room
/// for 4096, which are undefined at first.
#[kernel]
pub unsafe fn sum(input: *const i32, scratch: *mut i32, output: *mut i32, n: u32) {}
