//! The last warp needs no barrier of the block
//!
//! Each block adds up 512 numbers with 256 threads, in eight steps with a barrier after each. From
//! the third step on only the first warp adds, but the other seven still go through the loop and
//! come to every barrier, where the whole block waits.
//!
//! When 64 numbers are left, one warp can finish alone. Its lanes still have to wait for each other
//! between the steps, but for that there is a barrier of the warp: `warp::sync_warp(warp::FULL)`.
//! The other warps do not wait there. `FULL` says that all 32 lanes do.
//!
//! Lanes of one warp do not wait for each other by themselves. On old GPUs they ran in lockstep,
//! and many programs from that time have no barrier at all here. Since Volta (2017) lanes may run
//! ahead of others, and the compiler may reorder what no barrier separates: such a program has a
//! race.
//!
//! # Task
//!
//! Leave the loop when 64 numbers are left, and let the first warp finish alone, with barriers of
//! the warp.
//!
//! The goals: at most 24 arrivals of warps at barriers in each block (now 72), and about four
//! fifths of the instructions.

use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: u32 = 256;

/// Writes the sum of each 512 elements to `output`.
///
/// # Safety
/// `input` holds `n` elements, `output` one for each block. Blocks have 256 threads, and there is a
/// block for each 512 elements.
#[kernel(block(256))]
pub unsafe fn sum(input: *const f32, output: *mut f32, n: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; BLOCK as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let (t, block, n) = (thread::thread_idx_x(), thread::block_idx_x() as usize, n as usize);
    let element = |i: usize| if i < n { *input.add(i) } else { 0.0 };
    let first = block * 512 + t as usize;
    (*stage)[t as usize] = element(first) + element(first + 256);
    thread::sync_threads();

    // TODO: stop when 64 numbers are left, and let the first warp do the rest.
    let mut half = BLOCK / 2;
    while half > 0 {
        if t < half {
            (*stage)[t as usize] += (*stage)[(t + half) as usize];
        }
        thread::sync_threads();
        half /= 2;
    }

    if t == 0 {
        *output.add(block) = (*stage)[0];
    }
}
