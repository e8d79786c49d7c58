//! From register to register
//!
//! To add another lane's number, a lane of this kernel fetches it from shared memory, where the
//! other lane has put it. Within a warp there is a shorter way: a *shuffle* hands a register's
//! value from lane to lane. It takes one instruction, needs no memory, and waits for the lanes that
//! take part, so it needs no barrier either.
//!
//! `let (other, _) = warp::warp_shuffle_down(warp::FULL, value, 16, 32);` gives each lane the
//! `value` of the lane 16 above it (the last 16 lanes, above which there are none, get their own).
//! If each lane adds what it gets, and the same is done with 8, 4, 2 and 1, then lane 0 has the sum
//! of all 32. All 32 lanes have to take part.
//!
//! # Task
//!
//! Let each of the eight warps add up its 64 numbers by shuffles. Lane 0 of each warp puts the
//! warp's sum into shared memory, and after a barrier the first warp adds up the eight sums, by
//! shuffles again.
//!
//! The goals: at most 10 requests to shared memory in each block (now 45), and at most 8 arrivals
//! of warps at barriers (now 24).

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
    let (t, block, n) = (thread::thread_idx_x(), thread::block_idx_x() as usize, n as usize);
    let element = |i: usize| if i < n { *input.add(i) } else { 0.0 };
    let first = block * 512 + t as usize;
    let value = element(first) + element(first + 256);

    // TODO: add up within each warp by shuffles; eight sums, one of each warp, are all that shared
    // memory is needed for.
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; BLOCK as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    (*stage)[t as usize] = value;
    thread::sync_threads();
    let mut half = BLOCK / 2;
    while half > 32 {
        if t < half {
            (*stage)[t as usize] += (*stage)[(t + half) as usize];
        }
        thread::sync_threads();
        half /= 2;
    }
    if t < 32 {
        while half > 0 {
            if t < half {
                (*stage)[t as usize] += (*stage)[(t + half) as usize];
            }
            warp::sync_warp(warp::FULL);
            half /= 2;
        }
    }

    if t == 0 {
        *output.add(block) = (*stage)[0];
    }
}
