// fails: barriers
// Goes on with barriers of the block: seven warps wait five times for the work of one.

use cuda_std::prelude::*;

/// Sums up each block's elements.
///
/// # Safety
/// `input` holds `n` elements, `output` one for each block. Blocks have 256 threads, and there is a
/// thread for each element.
#[kernel(launch_bounds(256))]
pub unsafe fn sums(input: *const f32, output: *mut f32, n: u32) {
    let stage = shared_array![f32; 256];
    let (t, i) = (thread::thread_idx_x() as usize, thread::index_1d() as usize);
    *stage.add(t) = if i < n as usize { *input.add(i) } else { 0.0 };
    thread::sync_threads();

    let mut half = 128;
    while half > 0 {
        if t < half {
            *stage.add(t) += *stage.add(t + half);
        }
        thread::sync_threads();
        half /= 2;
    }
    if t == 0 {
        *output.add(thread::block_idx_x() as usize) = *stage;
    }
}
