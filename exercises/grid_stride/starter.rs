//! Any grid covers any length
//!
//! A thread for each element is simple, but not required. Often a kernel gets a grid that suits the
//! GPU, such as a few blocks for each multiprocessor, whatever the length of the data. Then each
//! thread takes several elements, in a loop.
//!
//! Which ones? If the grid has T threads, thread `i` takes the elements `i`, `i + T`, `i + 2 T`,
//! and so on to the end: a *grid-stride loop*. In each round the whole grid moves on by T elements,
//! and neighbouring threads have neighbouring elements. Memory serves such accesses best. Threads
//! run in *warps* of 32, and memory comes in *sectors* of 32 bytes: for 32 neighbouring floats a
//! warp fetches 4 sectors, and for floats that lie apart up to 32.
//!
//! # Task
//!
//! `fade` multiplies each of `n` samples by `gain`. Its grid may be smaller than `n`, and also
//! larger. Let the loop do the rest.
//!
//! The number of blocks in the grid is `thread::grid_dim_x()`. The goal: 4 sectors for each load of
//! a warp.

use cuda_std::prelude::*;

/// Multiplies each sample by `gain`.
///
/// # Safety
/// `samples` holds `n` elements.
#[kernel]
pub unsafe fn fade(samples: *mut f32, gain: f32, n: u32) {
    let n = n as usize;
    let i = thread::index_1d() as usize;
    // TODO: go on with the next element of this thread, while there is one.
    if i < n {
        *samples.add(i) *= gain;
    }
}
