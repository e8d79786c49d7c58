//! Stage less
//!
//! A multiprocessor hides the time that memory takes by having many warps: while some wait, others
//! compute. A Hopper multiprocessor has room for 64 warps, and for 228 KB of shared memory, which
//! its blocks divide among them. A block that takes much of it keeps others out. The *occupancy* is
//! the number of warps that fit, in percent of the maximum.
//!
//! This kernel adds up 8192 elements in each block of 128 threads. It stages all of them in shared
//! memory: 32 KB for 4 warps. Six such blocks fit on a multiprocessor, not seven, since the system
//! takes 1 KB for each block. That is 24 warps of 64.
//!
//! But most of what is staged is read once, by the thread that could have kept it in a register.
//! Shared memory is for what threads pass to each other.
//!
//! # Task
//!
//! Make 64 warps fit, 16 blocks. For that, a block may take at most 13 KB of shared memory (228 /
//! 16 - 1, rounded down); it needs far less. The loads from global memory must stay side by side,
//! so that each sector is loaded once.

use cuda_std::prelude::*;

/// Elements that a block adds up.
const PART: usize = 8192;

/// Threads of a block.
const BLOCK: usize = 128;

/// The sum of each part; sums wrap around.
///
/// # Safety
/// `input` holds `n` elements. Blocks have 128 threads, one block for each 8192 elements, and
/// `sums` has an element for each block.
#[kernel(block(128))]
pub unsafe fn sum(input: *const u32, sums: *mut u32, n: u32) {
    // TODO: what of this must threads pass to each other?
    #[address_space(shared)]
    static STAGE: SharedCell<[u32; PART]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    let first = PART * thread::block_idx_x() as usize;

    for i in (t..PART).step_by(BLOCK) {
        (*stage)[i] = if first + i < n as usize { *input.add(first + i) } else { 0 };
    }
    thread::sync_threads();
    // The second half is added to the first until one element is left.
    let mut half = PART / 2;
    while half > 0 {
        for i in (t..half).step_by(BLOCK) {
            (*stage)[i] = (*stage)[i].wrapping_add((*stage)[i + half]);
        }
        thread::sync_threads();
        half /= 2;
    }
    if t == 0 {
        *sums.add(thread::block_idx_x() as usize) = (*stage)[0];
    }
}
