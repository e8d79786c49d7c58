// fails: race
// Trusts that the lanes of a warp run in step.

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
    if t < 32 {
        while half > 0 {
            if t < half {
                (*stage)[t as usize] += (*stage)[(t + half) as usize];
            }
            half /= 2;
        }
    }

    if t == 0 {
        *output.add(block) = (*stage)[0];
    }
}
