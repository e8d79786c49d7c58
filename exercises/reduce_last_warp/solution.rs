//! The last warp needs no barrier of the block: its lanes wait for each other only

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

    let mut half = BLOCK / 2;
    while half > 32 {
        if t < half {
            (*stage)[t as usize] += (*stage)[(t + half) as usize];
        }
        thread::sync_threads();
        half /= 2;
    }
    // 64 numbers are left, for one warp; the others are done. All its lanes add, also those whose
    // sums are not used: each waits until all have read before it writes, and until all have
    // written before it reads.
    if t < 32 {
        let mut sum = (*stage)[t as usize];
        for half in [32, 16, 8, 4, 2, 1] {
            sum += (*stage)[(t + half) as usize];
            warp::sync_warp(warp::FULL);
            (*stage)[t as usize] = sum;
            warp::sync_warp(warp::FULL);
        }
    }

    if t == 0 {
        *output.add(block) = (*stage)[0];
    }
}
