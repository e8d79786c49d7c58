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

    // 32 sums are left, for one warp: its other lanes wait, but they do not touch what is read.
    if t < 32 {
        while half > 0 {
            if t < half {
                *stage.add(t) += *stage.add(t + half);
            }
            warp::sync_warp(warp::FULL);
            half /= 2;
        }
    }
    if t == 0 {
        *output.add(thread::block_idx_x() as usize) = *stage;
    }
}
