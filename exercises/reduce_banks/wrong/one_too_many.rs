// fails: race
// `t <= half`: one thread too many adds, while its neighbour changes what it reads.

use cuda_std::prelude::*;

/// # Safety
/// `input` holds `n` elements, `output` one for each block of 256 threads.
#[kernel(block(256))]
pub unsafe fn sum(input: *const f32, output: *mut f32, n: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 256]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let (t, i) = (thread::thread_idx_x(), thread::wide_index_1d());
    (*stage)[t as usize] = if i < n as usize { *input.add(i) } else { 0.0 };
    thread::sync_threads();
    let mut half = 128;
    while half > 0 {
        if t <= half && t + half < 256 {
            (*stage)[t as usize] += (*stage)[(t + half) as usize];
        }
        thread::sync_threads();
        half /= 2;
    }
    if t == 0 {
        *output.add(thread::block_idx_x() as usize) = (*stage)[0];
    }
}
