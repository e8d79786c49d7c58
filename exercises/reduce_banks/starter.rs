//! Reduce without bank conflicts
//!
//! Each block adds up its 256 numbers in shared memory. The working threads are side by side, but
//! the numbers that they add move apart: after the first step the sums are in every second place,
//! then in every fourth, then in every eighth.
//!
//! Shared memory has 32 *banks*; word `i` is in bank `i % 32`. A warp's access takes one pass over
//! the banks, a *wavefront*, if its lanes want words of different banks. Lanes that want different
//! words of one bank take turns: a *bank conflict*. With places 2 apart two lanes share each bank
//! that is used, with places 4 apart four, with places 8 apart eight. More than half of this
//! kernel's wavefronts are due to such conflicts.
//!
//! The sums need not be where they are. Any place will do for a sum, as long as all additions of a
//! step read what was there before the step.
//!
//! # Task
//!
//! In each step let neighbouring threads read neighbouring places, and write neighbouring places.
//!
//! The goal: no bank conflicts.

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

    // TODO: which two numbers does thread `t` add, if all threads' numbers are to lie side by side?
    let mut stride = 1;
    while stride < BLOCK {
        let first = 2 * stride * t;
        if first < BLOCK {
            (*stage)[first as usize] += (*stage)[(first + stride) as usize];
        }
        thread::sync_threads();
        stride *= 2;
    }

    if t == 0 {
        *output.add(thread::block_idx_x() as usize) = (*stage)[0];
    }
}
