// fails: memory
// Copies one float more than there are.

use cuda_std::prelude::*;

/// # Safety
/// `input` and `output` hold `n` floats.
#[kernel]
pub unsafe fn copy(input: *const f32, output: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i <= n {
        *output.add(i as usize) = *input.add(i as usize);
    }
}
