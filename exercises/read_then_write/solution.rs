//! Read, then write: all threads read, and only then they write

use cuda_std::prelude::*;

/// Moves the elements of each block one place up.
///
/// # Safety
/// `data` holds an element for each thread. Blocks have 256 threads.
#[kernel(launch_bounds(256))]
pub unsafe fn shift(data: *mut f32) {
    let stage = shared_array![f32; 256];
    let (t, i) = (thread::thread_idx_x() as usize, thread::index_1d() as usize);
    *stage.add(t) = *data.add(i);
    thread::sync_threads();
    // A variable is the thread's own: nobody can overwrite it.
    let below = if t > 0 { *stage.add(t - 1) } else { 0.0 };
    // Now all have read what they need.
    thread::sync_threads();
    *stage.add(t) = below;
    thread::sync_threads();
    *data.add(i) = *stage.add(t);
}
