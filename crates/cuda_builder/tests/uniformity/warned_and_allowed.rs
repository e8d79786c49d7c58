//! In an `unsafe fn` it is a warning, or nothing.

use cuda_std::prelude::*;

/// # Safety
/// All threads have an element.
#[kernel(linear)]
pub unsafe fn warned(n: u32, mut output: DisjointSlice<u32>) {
    if let Some(output) = output.get_mut(thread::linear_index()) {
        thread::sync_threads();
        *output = n;
    }
}

/// # Safety
/// All threads have an element.
#[kernel(linear, allow(divergent_barrier))]
pub unsafe fn allowed(n: u32, mut output: DisjointSlice<u32>) {
    if let Some(output) = output.get_mut(thread::linear_index()) {
        thread::sync_threads();
        *output = n;
    }
}
