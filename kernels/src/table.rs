//! A table of a function, `y = sin(sqrt(x))`, by accurate or by fast math.
//!
//! The first program of the lab sheet: one thread an element, no input, one store, so that most of
//! the work is arithmetic. There the programmer has a choice. The accurate sine is software, good
//! to the last bit or two for every argument, and the accurate root (`sqrt.rn.f32`) is correctly
//! rounded, in several machine instructions. The fast ones are single PTX instructions, executed by
//! the special function units: `sqrt.approx.f32`, with a relative error of 2^-23, and
//! `sin.approx.f32`, with an absolute error of 2^-20.5 up to 2 pi that grows beyond.
//!
//! What to look for: the worst error and the warp instructions of each. The time tells them apart
//! only where the arithmetic takes longer than the stores, which on an H200 it does not.
//!
//! Source: the lab sheet, first exercise.

use cuda_std::{DisjointSlice, gpu_only, kernel};
#[gpu_only]
use cuda_std::{GpuFloat, fast, thread};

/// `y[i] = sin(sqrt(i * step))`, accurately.
#[kernel(linear)]
pub fn table_accurate(mut y: DisjointSlice<f32>, step: f32) {
    let i = thread::linear_index();
    if let Some(y) = y.get_mut(i) {
        let x = i.get() as f32 * step;
        *y = x.sqrt().sin();
    }
}

/// The same by the special function units.
#[kernel(linear)]
pub fn table_fast(mut y: DisjointSlice<f32>, step: f32) {
    let i = thread::linear_index();
    if let Some(y) = y.get_mut(i) {
        let x = i.get() as f32 * step;
        *y = fast::sin(fast::sqrt(x));
    }
}
