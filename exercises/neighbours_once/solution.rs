//! Load once what three threads need: the block's elements in shared memory, and a halo

use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: usize = 256;

/// `output[i]` becomes the mean of `input[i - 1]`, `input[i]` and `input[i + 1]`.
///
/// # Safety
/// `input` and `output` hold `n` elements. Blocks have 256 threads, and there is a thread for each
/// element.
#[kernel(block(256))]
pub unsafe fn smooth(input: *const f32, output: *mut f32, n: usize) {
    // The block's elements, with one place more at each end for the halo.
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; BLOCK + 2]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    let i = thread::block_idx_x() as usize * BLOCK + t;
    if i < n {
        (*stage)[t + 1] = *input.add(i);
        if t == 0 {
            (*stage)[0] = *input.add(i.saturating_sub(1));
        }
        // The last thread with an element, which in the last block may be any.
        if t == BLOCK - 1 || i == n - 1 {
            (*stage)[t + 2] = *input.add((i + 1).min(n - 1));
        }
    }
    thread::sync_threads();
    if i < n {
        *output.add(i) = ((*stage)[t] + (*stage)[t + 1] + (*stage)[t + 2]) / 3.0;
    }
}
