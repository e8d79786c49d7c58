// fails: race
// The sums move together, but onto places that other threads have yet to read.

use cuda_std::prelude::*;

/// # Safety
/// `input` holds `n` elements, `output` one for each block of 256 threads.
#[kernel(launch_bounds(256))]
pub unsafe fn sum(input: *const f32, output: *mut f32, n: u32) {
    let stage = shared_array![f32; 256];
    let (t, i) = (thread::thread_idx_x(), thread::wide_index_1d());
    *stage.add(t as usize) = if i < n as usize { *input.add(i) } else { 0.0 };
    thread::sync_threads();
    let mut half = 128;
    while half > 0 {
        if t < half {
            *stage.add(t as usize) = *stage.add(2 * t as usize) + *stage.add(2 * t as usize + 1);
        }
        thread::sync_threads();
        half /= 2;
    }
    if t == 0 {
        *output.add(thread::block_idx_x() as usize) = *stage;
    }
}
