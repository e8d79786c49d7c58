// fails: loads.requests
// Each thread takes four neighbours, but one by one; the compiler may not make one word of them.

use cuda_std::prelude::*;

/// # Safety
/// As in the starter.
#[kernel]
pub unsafe fn scale(input: *const f32, output: *mut f32, n: usize, factor: f32) {
    let first = 4 * thread::wide_index_1d();
    if first < n {
        for i in first..first + 4 {
            *output.add(i) = factor * *input.add(i);
        }
    }
}
