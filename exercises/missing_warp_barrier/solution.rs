//! The last warp waits for its lanes

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
    while half > 16 {
        if t < half {
            *stage.add(t) += *stage.add(t + half);
        }
        thread::sync_threads();
        half /= 2;
    }

    // 32 sums are left, for one warp. All its lanes add, also those whose sums nobody needs: each
    // waits until all have read before it writes, and until all have written before it reads.
    if t < 32 {
        let mut sum = *stage.add(t);
        for half in [16, 8, 4, 2, 1] {
            sum += *stage.add(t + half);
            warp::sync_warp(warp::FULL);
            *stage.add(t) = sum;
            warp::sync_warp(warp::FULL);
        }
    }
    if t == 0 {
        *output.add(thread::block_idx_x() as usize) = *stage;
    }
}
