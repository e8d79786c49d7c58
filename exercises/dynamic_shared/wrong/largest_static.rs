// fails: volta: occupancy
// An array for the largest block works, but in small blocks it keeps other blocks out.

use cuda_std::prelude::*;

/// # Safety
/// `input` and `output` hold `n` elements. There is a thread for each element.
#[kernel]
pub unsafe fn reverse(input: *const f32, output: *mut f32, n: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 1024]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();

    let t = thread::thread_idx_x() as usize;
    let part = thread::block_dim_x() as usize;
    let first = thread::block_idx_x() as usize * part;
    let count = (n as usize - first).min(part);
    if t < count {
        (*stage)[t] = *input.add(first + t);
    }
    thread::sync_threads();
    if t < count {
        *output.add(first + t) = (*stage)[count - 1 - t];
    }
}
