// fails: uninitialised read
// Each thread stages one element, so the last 16 of the 272 are missing.

use cuda_std::prelude::*;

/// # Safety
/// `input` and `output` hold `n` elements. Blocks have 256 threads.
#[kernel(block(256))]
pub unsafe fn average(input: *const f32, output: *mut f32, n: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 272]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let (t, i, n) = (thread::thread_idx_x() as usize, thread::wide_index_1d(), n as usize);
    (*stage)[t] = if i >= 8 && i - 8 < n { *input.add(i - 8) } else { 0.0 };
    thread::sync_threads();
    if i < n {
        let mut sum = 0.0;
        for s in t..=t + 16 {
            sum += (*stage)[s];
        }
        *output.add(i) = sum / 17.0;
    }
}
