//! The fastest sum: wide words, two in flight, and one atomic operation for each block

use cuda_std::prelude::*;
use cuda_std::unroll;

//@ launch sum: grid = "8 * multiprocessors", block = 256

/// Warps of a block.
const WARPS: usize = 8;

/// Words that a thread loads before it adds the first.
const AHEAD: usize = 2;

/// Adds the numbers up.
///
/// # Safety
/// `input` holds `n` integers, `output` one, which is 0 before. Blocks have 256 threads.
#[kernel(block(256))]
pub unsafe fn sum(input: *const i32, _scratch: *mut i32, output: *mut i32, n: u32) {
    let words = input.cast::<i32x4>();
    let (first, n) = (thread::wide_index_1d(), n as usize);
    let threads = thread::grid_dim_x() as usize * thread::block_dim_x() as usize;
    let mut sums = i32x4::splat(0);
    let mut i = first;
    while i + (AHEAD - 1) * threads < n / 4 {
        let mut loaded = [i32x4::splat(0); AHEAD];
        unroll::<AHEAD>(|ahead| loaded[ahead] = *words.add(i + ahead * threads));
        unroll::<AHEAD>(|ahead| sums = sums + loaded[ahead]);
        i += AHEAD * threads;
    }
    while i < n / 4 {
        sums = sums + *words.add(i);
        i += threads;
    }
    let [a, b, c, d] = sums.to_array();
    let mut value = a.wrapping_add(b).wrapping_add(c.wrapping_add(d));
    // The last elements do not fill a word.
    if first < n % 4 {
        value = value.wrapping_add(*input.add(n - 1 - first));
    }
    let total = block_sum(value);
    if thread::thread_idx_x() == 0 {
        atomic::add(output, total);
    }
}

/// The sum of the values of all threads of the block, in thread 0.
///
/// # Safety
/// All 256 threads come here, once.
#[inline(always)]
unsafe fn block_sum(value: i32) -> i32 {
    #[address_space(shared)]
    static WARP_SUMS: SharedCell<[i32; WARPS]> = SharedCell::uninit();
    let warp_sums = WARP_SUMS.as_mut_ptr();
    let (warp, lane) = (thread::thread_idx_x() as usize / 32, thread::thread_idx_x() as usize % 32);
    // SAFETY: all threads are here, and there is a place for each warp.
    unsafe {
        let of_warp = warp::warp_reduce_first(value, i32::wrapping_add);
        if lane == 0 {
            (*warp_sums)[warp] = of_warp;
        }
        thread::sync_threads();
        let of_lane = if warp == 0 && lane < WARPS { (*warp_sums)[lane] } else { 0 };
        warp::warp_reduce_first(of_lane, i32::wrapping_add)
    }
}
