//! Ranks in tiles, in one thread.

use cuda_std::prelude::*;

/// Counts the smaller elements in each element's tile of 64.
///
/// # Safety
/// `input` and `output` hold `n` elements; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut u32, n: u32) {
    let n = n as usize;
    for i in 0..n {
        let first = i / 64 * 64;
        let mut smaller = 0;
        for j in first..(first + 64).min(n) {
            if *input.add(j) < *input.add(i) {
                smaller += 1;
            }
        }
        *output.add(i) = smaller;
    }
}
