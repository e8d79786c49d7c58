//! Sums of parts, in one thread.

use cuda_std::prelude::*;

/// Sums up each 256 elements.
///
/// # Safety
/// `input` holds `n` elements, `output` one for each 256; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, n: u32) {
    let n = n as usize;
    for part in 0..n.div_ceil(256) {
        // In f64, which is closer to the true sum than any order of additions in f32.
        let mut sum = 0.0;
        for i in 256 * part..(256 * part + 256).min(n) {
            sum += f64::from(*input.add(i));
        }
        *output.add(part) = sum as f32;
    }
}
