//! Any grid covers any length
//!
//! A thread for each element is simple, but not required. Often a kernel gets a grid that suits the
//! GPU, such as a few blocks for each multiprocessor, whatever the length of the data. Then each
//! thread takes several elements, in a loop.
//!
//! Which ones? If the grid has T threads, thread `i` takes the elements `i`, `i + T`, `i + 2 T`,
//! and so on to the end: a *grid-stride loop*. In each iteration the whole grid moves on by T
//! elements, and neighbouring threads have neighbouring elements. Memory serves such accesses best.
//! Threads run in *warps* of 32, and memory comes in *sectors* of 32 bytes: for 32 neighbouring
//! floats a warp fetches 4 sectors, and for floats that are far apart up to 32.
//!
//! # Where `unsafe` begins
//!
//! `get_mut` takes only indices that are known to be the thread's own, and `i + T` is a number like
//! any other. `element_mut(i)` takes any number, and is `None` beyond the end, but it is `unsafe`:
//! you promise that no other thread of the launch uses this element. The compiler cannot see
//! whether that is true, since it sees one thread; the simulator's sanitizer checks exactly this.
//!
//! # Task
//!
//! `fade` multiplies each sample by `gain`. Its grid may have fewer threads than there are samples,
//! and also more. Let a loop do the rest.
//!
//! The number of blocks in the grid is `thread::grid_dim_x()`. The goal: 4 sectors for each load of
//! a warp.

use cuda_std::prelude::*;

/// Multiplies each sample by `gain`.
#[kernel(linear)]
pub fn fade(mut samples: DisjointSlice<f32>, gain: f32) {
    let i = thread::linear_index().get();
    // TODO: go on with the next element of this thread, while there is one. SAFETY: `i` is this
    // thread's own index.
    if let Some(sample) = unsafe { samples.element_mut(i) } {
        *sample *= gain;
    }
}
