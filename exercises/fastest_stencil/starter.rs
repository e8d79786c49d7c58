//! The fastest stencil
//!
//! Write the fastest stencil of seven points in a volume: each value of `output` is the mean of a
//! value of `input` and its six neighbours, two along each axis. Outside of the volume values are
//! 0. Element (z, y, x) is at `(z * rows + y) * columns + x`. There is no kernel to
//! begin with.
//!
//! A line `//@ launch KERNEL: grid = ..., block = ..., shared = ...` in this file launches a
//! kernel. `grid` and `block` are a number, or a list of up to three; `shared` (bytes of dynamic
//! shared memory) may be left out. Expressions in quotes can use `planes`, `rows`, `columns`,
//! `block.x` (`.y`, `.z`), `multiprocessors`, `+ - * / %`, `ceil`, `floor`, `min` and `max`.
//!
//! # Task
//!
//! One launch, of a kernel with the parameters below, right for any planes, rows and columns and
//! free of races. Then its time counts. It is predicted for 32 planes of 256 x 256 on an H200
//! (`--device sim:MODEL`: on another GPU), and compared with that of a copy of as many bytes at the
//! GPU's bandwidth. Up to twice the copy's time passes; the report says what limits the kernel, and
//! what time the next grade takes.

use cuda_std::prelude::*;

//@ launch relax: grid = 1, block = 32

/// `output` becomes the mean of seven values of `input`.
///
/// # Safety
/// `input` and `output` hold `planes` planes of `rows` rows of `columns` values.
#[kernel]
pub unsafe fn relax(input: *const f32, output: *mut f32, planes: i32, rows: i32, columns: i32) {}
