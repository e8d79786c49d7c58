//! Add while you load
//!
//! Each block adds up 512 numbers, with 512 threads. Every thread brings one number to shared
//! memory, and from then on at least half of them have nothing to do: the first step needs 256
//! threads. The rest only wait at the barriers.
//!
//! A thread that loads two numbers can add them at once, in a register. Then 256 threads do the
//! work of 512: the first step, its barrier and half of the traffic to shared memory are gone, and
//! twice as many blocks fit on a multiprocessor.
//!
//! # Task
//!
//! Let blocks of 256 threads do the same work. Block `b` still adds up the 512 elements from number
//! `512 * b` on, or as many as there are. The number in `#[kernel(block(...))]` is also the number
//! of threads with which your kernel is launched, so change it there; the grid stays one block for
//! each 512 elements. Neighbouring threads should still load neighbouring elements.
//!
//! The goals: about half of the instructions, at most 80 arrivals of warps at barriers in each
//! block (now 160), and still at most 4 sectors for each load.

use cuda_std::prelude::*;

/// Elements of a block.
const ELEMENTS: usize = 512;

/// Threads of a block.
// TODO: half as many threads, and two elements for each. Change the number at the kernel, too.
const BLOCK: u32 = 512;

/// Writes the sum of each 512 elements to `output`.
///
/// # Safety
/// `input` holds `n` elements, `output` one for each block, and there is a block for each 512
/// elements.
#[kernel(block(512))]
pub unsafe fn sum(input: *const f32, output: *mut f32, n: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; BLOCK as usize]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let (t, block, n) = (thread::thread_idx_x(), thread::block_idx_x() as usize, n as usize);
    let i = block * ELEMENTS + t as usize;
    (*stage)[t as usize] = if i < n { *input.add(i) } else { 0.0 };
    thread::sync_threads();

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
