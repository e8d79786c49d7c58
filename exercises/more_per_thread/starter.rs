//! More work for few threads
//!
//! A load from global memory takes hundreds of cycles. A multiprocessor hides that by having many
//! warps: while one waits, others go on. But sometimes there are few: each thread needs many
//! registers, or a block much shared memory. Here the launch gives each block of one warp 48 KB, as
//! for a large table, so that a multiprocessor of an H200 has room for 4 warps, not 64. There are
//! two blocks for each multiprocessor.
//!
//! By Little's law the loads that are done in a second are the loads that are under way at once,
//! over the time that one takes. The number of threads is not in that law: a thread may have
//! several loads under way, if none of them needs another's result. So few threads that each do
//! more at a time can be as fast as many (Volkov, "Better performance at lower occupancy", 2010).
//!
//! This kernel follows lists: element `i` of `next` is the element that comes after `i`. Each load
//! needs the one before it, so a thread has one load under way. It follows eight lists, one after
//! the other.
//!
//! # Task
//!
//! Let each thread follow several lists at a time. The launch stays as it is.
//!
//! The goals: at most a third of this kernel's predicted time (on an H200), with as many loads.

use cuda_std::prelude::*;

/// Follows each list for `steps` steps: list `i` begins at element `i`, and `ends[i]` is where it
/// comes to.
///
/// # Safety
/// `next` and `ends` hold `n` elements, those of `next` below `n`. Grids of any size.
#[kernel(block(32))]
pub unsafe fn follow(next: *const u32, ends: *mut u32, n: u32, steps: u32) {
    let (first, threads) = (thread::index_1d(), thread::grid_dim_x() * thread::block_dim_x());
    // TODO: several lists at a time.
    for list in (first..n).step_by(threads as usize) {
        let mut at = list;
        for _ in 0..steps {
            at = *next.add(at as usize);
        }
        *ends.add(list as usize) = at;
    }
}
