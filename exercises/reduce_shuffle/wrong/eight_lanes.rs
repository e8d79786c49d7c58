// fails: does not take part in the shuffle
// Eight lanes shuffle, with a mask that says 32.

use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: usize = 256;

/// The sum of the values of all 32 lanes, in lane 0.
///
/// # Safety
/// All 32 lanes come here.
#[inline(always)]
unsafe fn warp_sum(mut value: f32) -> f32 {
    let mut distance = 16;
    while distance > 0 {
        // SAFETY: all lanes are here.
        value += unsafe { warp::warp_shuffle_down(warp::FULL, value, distance, 32).0 };
        distance /= 2;
    }
    value
}

/// Writes the sum of each 512 elements to `output`.
///
/// # Safety
/// `input` holds `n` elements, `output` one for each block. Blocks have 256 threads, and there is a
/// block for each 512 elements.
#[kernel(block(256))]
pub unsafe fn sum(input: *const f32, output: *mut f32, n: u32) {
    let (t, block, n) = (thread::thread_idx_x(), thread::block_idx_x() as usize, n as usize);
    let element = |i: usize| if i < n { *input.add(i) } else { 0.0 };
    let first = block * 512 + t as usize;
    let value = element(first) + element(first + 256);

    #[address_space(shared)]
    static WARP_SUMS: SharedCell<[f32; BLOCK / 32]> = SharedCell::uninit();
    let warp_sums = WARP_SUMS.as_mut_ptr();
    let (warp, lane) = (t as usize / 32, t as usize % 32);
    let warp_total = warp_sum(value);
    if lane == 0 {
        (*warp_sums)[warp] = warp_total;
    }
    thread::sync_threads();

    if t < 8 {
        let block_sum = warp_sum((*warp_sums)[lane]);
        if lane == 0 {
            *output.add(block) = block_sum;
        }
    }
}
