//! Keep what is not zero
//!
//! *Stream compaction* keeps some values, in their order, and leaves no gaps: here each block keeps
//! those of its 256 values that are not 0. Where does a value go? Its index is the number of
//! values kept before it: an exclusive prefix sum of zeros and ones. Each thread writes to another
//! place, so no atomic operation is needed.
//!
//! This kernel is right, but each thread counts by itself, and loads half of the block's values for
//! that. A warp counts its values in one instruction: `warp::warp_vote_ballot` gives each lane a
//! word with a bit for each lane that keeps its value. The bits of the lanes before this one,
//! counted, are the number of values kept before it in its warp. What the warps before keep has to
//! come through shared memory.
//!
//! # Task
//!
//! Load each value once, and count by votes.
//!
//! The goal: one load request for each warp.

use cuda_std::prelude::*;

/// Writes the values of each block that are not 0 to the block's 256 places in `kept`, in their
/// order and without gaps, and how many there are to `counts`.
///
/// # Safety
/// `values` holds `n` numbers, `kept` 256 for each block, `counts` one. Blocks have 256 threads,
/// and there is a thread for each value.
#[kernel(block(256))]
pub unsafe fn compact(values: *const u32, kept: *mut u32, counts: *mut u32, n: u32) {
    let (t, i) = (thread::thread_idx_x(), thread::wide_index_1d());
    let first = i - t as usize;
    let value = if i < n as usize { *values.add(i) } else { 0 };

    // TODO: count by votes, and without these loads.
    let mut before = 0;
    for other in first..i {
        if other < n as usize && *values.add(other) != 0 {
            before += 1;
        }
    }

    if value != 0 {
        *kept.add(first + before) = value;
    }
    if t == 255 {
        *counts.add(thread::block_idx_x() as usize) = before as u32 + u32::from(value != 0);
    }
}
