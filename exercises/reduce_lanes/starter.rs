//! Keep the working lanes together
//!
//! A *reduction* makes one number of many. Here each block adds up its 256 numbers, in shared
//! memory and in steps. After the first step every second place holds the sum of two numbers, after
//! the next every fourth place that of four, and after eight steps place 0 holds the sum of all
//! 256.
//!
//! The thread of each such place does the addition. So in the first step every second thread works,
//! in the next every fourth. But the hardware runs *warps* of 32 threads: if one lane of a warp has
//! work to do, the whole warp takes the time for it, and the other lanes wait. Here all eight warps
//! work in the first five steps, with 16, 8, 4, 2 lanes and then 1. A warp that splits into lanes
//! that work and lanes that wait takes a *divergent branch*; here that happens 48 times in each
//! block.
//!
//! Which thread adds which two numbers is free to choose. The first step has 128 additions to do.
//! Let the first 128 threads do them: four full warps work, and four have nothing to do at all.
//!
//! With the places as they are, this alone does not pay on today's GPUs: lanes that work side by
//! side now conflict in the banks of shared memory. That is what the next exercise is about.
//!
//! # Task
//!
//! Change which threads work in each step. The numbers that they add, and the places of these
//! numbers, may stay as they are.
//!
//! The goals: at most 12 divergent branches in each block, and at least 26 active lanes in the
//! average instruction.

use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: u32 = 256;

/// Writes the sum of each block's 256 numbers to `output`.
///
/// # Safety
/// `input` holds `n` elements, `output` one for each block. Blocks have 256 threads, and there is a
/// thread for each element.
#[kernel(block(256))]
pub unsafe fn sum(input: *const f32, output: *mut f32, n: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; BLOCK as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let (t, i) = (thread::thread_idx_x(), thread::wide_index_1d());
    (*stage)[t as usize] = if i < n as usize { *input.add(i) } else { 0.0 };
    thread::sync_threads();

    let mut stride = 1;
    while stride < BLOCK {
        // TODO: half of the threads work in the first step: the first half, side by side.
        if t % (2 * stride) == 0 {
            (*stage)[t as usize] += (*stage)[(t + stride) as usize];
        }
        thread::sync_threads();
        stride *= 2;
    }

    if t == 0 {
        *output.add(thread::block_idx_x() as usize) = (*stage)[0];
    }
}
