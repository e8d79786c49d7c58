// fails: maxwell: l2_to_l1_sectors
// This operator asks for the L2 cache alone, which is where plain loads go on a Maxwell.

use cuda_std::prelude::*;

/// `output[i]` becomes the mean of the five elements around `input[i]`.
///
/// # Safety
/// `input` and `output` hold `n` elements. Blocks have 256 threads, and there is a thread for each
/// element.
#[kernel]
pub unsafe fn smooth(input: *const f32, output: *mut f32, n: usize) {
    let i = thread::wide_index_1d();
    if i < n {
        // Beyond the ends the outermost element is repeated.
        let last = n - 1;
        let sum = mem::load_cg(input.add(i.saturating_sub(2)))
            + mem::load_cg(input.add(i.saturating_sub(1)))
            + mem::load_cg(input.add(i))
            + mem::load_cg(input.add((i + 1).min(last)))
            + mem::load_cg(input.add((i + 2).min(last)));
        *output.add(i) = sum / 5.0;
    }
}
