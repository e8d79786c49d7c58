//! Stage once, read many times: 272 inputs for 256 outputs

use cuda_std::prelude::*;

/// Elements on either side.
const RADIUS: usize = 8;

/// Threads of a block.
const BLOCK: usize = 256;

/// The mean of each element's neighbourhood.
///
/// # Safety
/// `input` and `output` hold `n` elements. Blocks have 256 threads, and there is a thread for each
/// element.
#[kernel(block(256))]
pub unsafe fn average(input: *const f32, output: *mut f32, n: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; BLOCK + 2 * RADIUS]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let (t, i, n) = (thread::thread_idx_x() as usize, thread::wide_index_1d(), n as usize);

    // Element s of the stage is the input's element `s + first - RADIUS`; 0 where the input has
    // none.
    let first = thread::block_idx_x() as usize * BLOCK;
    let fill = |s: usize| {
        let j = first + s;
        (*stage)[s] = if j >= RADIUS && j - RADIUS < n { *input.add(j - RADIUS) } else { 0.0 };
    };
    fill(t);
    // 272 elements, 256 threads: the first 16 fetch the rest.
    if t < 2 * RADIUS {
        fill(BLOCK + t);
    }
    // Every thread comes here, also those past the end: they have staged elements that others
    // need.
    thread::sync_threads();

    if i < n {
        let mut sum = 0.0;
        for s in t..=t + 2 * RADIUS {
            sum += (*stage)[s];
        }
        *output.add(i) = sum / 17.0;
    }
}
