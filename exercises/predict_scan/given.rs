//! What does a prefix sum cost?
//!
//! A block adds up 256 values so that each result is the sum of all values up to its own. The
//! kernels do that, or a step of it:
//!
//! - `steps`: in each of eight steps every value adds the one 1, 2, 4, ..., 128 places before it,
//!   by Hillis and Steele.
//! - `up_2`, `up_4`, `up_16`: one step of a tree, by Blelloch, in which nodes that are `2 d` places
//!   apart add the ones `d` places before them, for `d` = 2, 4 and 16. `up_16_padded` is the last
//!   one with a word of padding after every 32.
//! - `shuffles`: warps add up in registers, and then each thread adds the sums of the warps before.
//!
//! A barrier is counted once for each warp that waits at it. Word `i` of shared memory is in bank
//! `i % 32`; lanes that want `n` different words of one bank take `n` passes, which are `n - 1`
//! bank conflicts.
//!
//! # Task
//!
//! Answer the questions. All kernels run with one block of 256 threads, which is eight warps.

use cuda_std::prelude::*;

/// Eight steps, from one array to the other and back.
///
/// # Safety
/// `values` holds 256 numbers. One block of 256 threads.
#[kernel(block(256))]
pub unsafe fn steps(values: *mut u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[[u32; 256]; 2]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    (*stage)[0][t] = *values.add(t);
    thread::sync_threads();
    let (mut from, mut distance) = (0, 1);
    while distance < 256 {
        let mut sum = (*stage)[from][t];
        if t >= distance {
            sum += (*stage)[from][t - distance];
        }
        (*stage)[1 - from][t] = sum;
        thread::sync_threads();
        from = 1 - from;
        distance *= 2;
    }
    *values.add(t) = (*stage)[from][t];
}

/// A step of the tree on zeros, with nodes at `place(i)`.
#[inline(always)]
unsafe fn up(distance: u32, place: impl Fn(u32) -> usize) {
    #[address_space(shared)]
    static NODES: SharedCell<[u32; 264]> = SharedCell::uninit();
    let nodes = NODES.as_mut_ptr();
    let t = thread::thread_idx_x();
    // SAFETY: each thread writes another word, and so does each pair after the barrier.
    unsafe {
        (*nodes)[place(t)] = 0;
        thread::sync_threads();
        if t < 128 / distance {
            let left = 2 * distance * t + distance - 1;
            (*nodes)[place(left + distance)] += (*nodes)[place(left)];
        }
    }
}

/// Nodes 4 apart.
///
/// # Safety
/// One block of 256 threads.
#[kernel(block(256))]
pub unsafe fn up_2() {
    up(2, |i| i as usize);
}

/// Nodes 8 apart.
///
/// # Safety
/// One block of 256 threads.
#[kernel(block(256))]
pub unsafe fn up_4() {
    up(4, |i| i as usize);
}

/// Nodes 32 apart.
///
/// # Safety
/// One block of 256 threads.
#[kernel(block(256))]
pub unsafe fn up_16() {
    up(16, |i| i as usize);
}

/// Nodes 32 apart, with padding.
///
/// # Safety
/// One block of 256 threads.
#[kernel(block(256))]
pub unsafe fn up_16_padded() {
    up(16, |i| (i + i / 32) as usize);
}

/// Shuffles, and the sums of eight warps.
///
/// # Safety
/// `values` holds 256 numbers. One block of 256 threads.
#[kernel(block(256))]
pub unsafe fn shuffles(values: *mut u32) {
    #[address_space(shared)]
    static SUMS: SharedCell<[u32; 8]> = SharedCell::uninit();
    let sums = SUMS.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    let mut sum = *values.add(t);
    for distance in [1, 2, 4, 8, 16] {
        let (earlier, is_lane) = warp::warp_shuffle_up(warp::FULL, sum, distance, 32);
        sum += if is_lane { earlier } else { 0 };
    }
    if t % 32 == 31 {
        (*sums)[t / 32] = sum;
    }
    thread::sync_threads();
    for other in 0..t / 32 {
        sum += (*sums)[other];
    }
    *values.add(t) = sum;
}
