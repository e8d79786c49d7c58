// fails: race
// Nothing keeps a thread from reading what its neighbours have not staged yet.

use cuda_std::prelude::*;

/// # Safety
/// `input` and `output` hold `n` elements. Blocks have 256 threads.
#[kernel(block(256))]
pub unsafe fn average(input: *const f32, output: *mut f32, n: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 272]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let (t, i, n) = (thread::thread_idx_x() as usize, thread::wide_index_1d(), n as usize);
    let first = thread::block_idx_x() as usize * 256;
    let fill = |s: usize| {
        let j = first + s;
        (*stage)[s] = if j >= 8 && j - 8 < n { *input.add(j - 8) } else { 0.0 };
    };
    fill(t);
    if t < 16 {
        fill(256 + t);
    }
    if i < n {
        let mut sum = 0.0;
        for s in t..=t + 16 {
            sum += (*stage)[s];
        }
        *output.add(i) = sum / 17.0;
    }
}
