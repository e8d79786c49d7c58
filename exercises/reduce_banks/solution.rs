//! Reduce without bank conflicts: the first half of the numbers takes the second half

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

    // What is left is always in the first places, side by side.
    let mut half = BLOCK / 2;
    while half > 0 {
        if t < half {
            (*stage)[t as usize] += (*stage)[(t + half) as usize];
        }
        thread::sync_threads();
        half /= 2;
    }

    if t == 0 {
        *output.add(thread::block_idx_x() as usize) = (*stage)[0];
    }
}
