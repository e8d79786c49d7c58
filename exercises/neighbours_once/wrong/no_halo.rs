// fails: output[255]
// Treats the ends of each block as the ends of the array.

use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: usize = 256;

/// # Safety
/// As in the starter.
#[kernel(block(256))]
pub unsafe fn smooth(input: *const f32, output: *mut f32, n: usize) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; BLOCK]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    let i = thread::block_idx_x() as usize * BLOCK + t;
    if i < n {
        (*stage)[t] = *input.add(i);
    }
    thread::sync_threads();
    if i < n {
        let left = if t > 0 { t - 1 } else { t };
        let right = if t + 1 < BLOCK && i + 1 < n { t + 1 } else { t };
        *output.add(i) = ((*stage)[left] + (*stage)[t] + (*stage)[right]) / 3.0;
    }
}
