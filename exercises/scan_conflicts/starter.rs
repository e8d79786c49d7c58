//! A tree without bank conflicts
//!
//! An *exclusive prefix sum* is the sum of all values before a value. Each block of 512 values has
//! a tree for these in shared memory, by Blelloch: upwards, each node becomes the sum of its
//! two halves; downwards, each node passes on the sum of all values before it. That takes two
//! additions a value.
//!
//! But its nodes are 2, then 4, 8, ... words apart. Shared memory has 32 *banks*; word `i` is in
//! bank `i % 32`. Lanes that want different words of one bank take turns: a *bank conflict*. With
//! nodes 32 apart all are in one bank.
//!
//! Nothing says that node `i` must be at word `i`. `place` says where it is, and all accesses use
//! it.
//!
//! # Task
//!
//! Choose the places so that lanes of a warp never meet in a bank. The stage may be larger.
//!
//! The goal: no bank conflicts.

use cuda_std::prelude::*;

/// Values of a block: two for each thread.
const VALUES: u32 = 512;

/// Where node `i` is in shared memory.
#[inline(always)]
fn place(i: u32) -> usize {
    // TODO: where must nodes be that are 32 apart?
    i as usize
}

/// Writes for each value the sum of those before it in its block of 512.
///
/// # Safety
/// `input` and `output` hold `n` numbers. Blocks have 256 threads, and there are two values for
/// each.
#[kernel(block(256))]
pub unsafe fn scan(input: *const u32, output: *mut u32, n: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[u32; VALUES as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let t = thread::thread_idx_x();
    let first = VALUES * thread::block_idx_x();

    for i in [t, t + VALUES / 2] {
        (*stage)[place(i)] = if first + i < n { *input.add((first + i) as usize) } else { 0 };
    }

    // Upwards: each node becomes the sum of its two halves.
    let (mut pairs, mut distance) = (VALUES / 2, 1);
    while pairs > 0 {
        thread::sync_threads();
        if t < pairs {
            let left = 2 * distance * t + distance - 1;
            (*stage)[place(left + distance)] += (*stage)[place(left)];
        }
        pairs /= 2;
        distance *= 2;
    }

    // Downwards: each node passes on the sum of all before it.
    if t == 0 {
        (*stage)[place(VALUES - 1)] = 0;
    }
    (pairs, distance) = (1, VALUES / 2);
    while pairs < VALUES {
        thread::sync_threads();
        if t < pairs {
            let left = 2 * distance * t + distance - 1;
            let before = (*stage)[place(left + distance)];
            (*stage)[place(left + distance)] = before + (*stage)[place(left)];
            (*stage)[place(left)] = before;
        }
        pairs *= 2;
        distance /= 2;
    }

    thread::sync_threads();
    for i in [t, t + VALUES / 2] {
        if first + i < n {
            *output.add((first + i) as usize) = (*stage)[place(i)];
        }
    }
}
