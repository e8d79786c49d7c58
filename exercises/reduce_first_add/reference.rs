//! The sums of blocks of 512, in one thread.

use cuda_std::prelude::*;

/// The sum of each 512 elements.
///
/// # Safety
/// `input` holds `n` elements, `output` one for each 512, the last ones included; one thread.
#[kernel]
pub unsafe fn reference(input: *const f32, output: *mut f32, n: u32) {
    let n = n as usize;
    for block in 0..n.div_ceil(512) {
        // In f64, so that the order of the additions does not show.
        let mut sum = 0.0_f64;
        for i in 512 * block..n.min(512 * (block + 1)) {
            sum += f64::from(*input.add(i));
        }
        *output.add(block) = sum as f32;
    }
}
