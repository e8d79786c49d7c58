//! Keep the working lanes together: thread `t` does addition number `t`

use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: u32 = 256;

/// Writes the sum of each block's 256 numbers to `output`.
///
/// # Safety
/// `input` holds `n` elements, `output` one for each block. Blocks have 256 threads, and there is a
/// thread for each element.
#[kernel(launch_bounds(256))]
pub unsafe fn sum(input: *const f32, output: *mut f32, n: u32) {
    let stage = shared_array![f32; BLOCK as usize];
    let (t, i) = (thread::thread_idx_x(), thread::wide_index_1d());
    *stage.add(t as usize) = if i < n as usize { *input.add(i) } else { 0.0 };
    thread::sync_threads();

    let mut stride = 1;
    while stride < BLOCK {
        // The same additions as before, by the first threads: whole warps work, or do not. Only
        // when fewer than 32 additions are left is one warp divided.
        let first = 2 * stride * t;
        if first < BLOCK {
            *stage.add(first as usize) += *stage.add((first + stride) as usize);
        }
        thread::sync_threads();
        stride *= 2;
    }

    if t == 0 {
        *output.add(thread::block_idx_x() as usize) = *stage;
    }
}
