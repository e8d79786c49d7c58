//! The fastest transpose
//!
//! Write the fastest transpose of a matrix: `output[col][row] = input[row][col]` for any number of
//! rows and columns. There is no kernel to begin with: you choose how threads share the work, with
//! which tiles and words.
//!
//! A line `//@ launch KERNEL: grid = ..., block = ..., shared = ...` in this file launches a
//! kernel. `grid` and `block` are a number, or a list of up to three; `shared` (bytes of dynamic
//! shared memory) may be left out. Expressions in quotes can use `rows`, `cols`,
//! `block.x` (`.y`, `.z`), `multiprocessors`, `+ - * / %`, `ceil`, `floor`, `min` and `max`.
//!
//! # Task
//!
//! One launch, of a kernel with the parameters below, right for all sizes and free of races. Then
//! its time counts. It is predicted for 1024 rows of 2048 columns on an H200 (`--device sim:MODEL`:
//! on another GPU), and compared with that of a copy of as many bytes at the GPU's bandwidth. Up to
//! twice the copy's time passes; the report says what limits the kernel, and what time the next
//! grade takes.

use cuda_std::prelude::*;

//@ launch transpose: grid = 1, block = 32

/// Transposes the matrix.
///
/// # Safety
/// `input` holds `rows` rows of `cols` elements, `output` has room for `cols` rows of `rows`.
#[kernel]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {}
