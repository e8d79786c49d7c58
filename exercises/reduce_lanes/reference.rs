//! The sums of blocks of 256, in one thread.

use cuda_std::prelude::*;

/// The sum of each 256 elements.
///
/// # Safety
/// `input` holds `n` elements, `output` one for each 256, the last ones included; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, n: u32) {
    let n = n as usize;
    for block in 0..n.div_ceil(256) {
        // In f64, so that the order of the additions does not show.
        let mut sum = 0.0_f64;
        for i in 256 * block..n.min(256 * (block + 1)) {
            sum += f64::from(*input.add(i));
        }
        *output.add(block) = sum as f32;
    }
}
