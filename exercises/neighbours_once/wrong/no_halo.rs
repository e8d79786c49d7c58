// fails: output[255]
// Treats the ends of each block as the ends of the array.

use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: usize = 256;

/// # Safety
/// As in the starter.
#[kernel(launch_bounds(256))]
pub unsafe fn smooth(input: *const f32, output: *mut f32, n: usize) {
    let stage = shared_array![f32; BLOCK];
    let t = thread::thread_idx_x() as usize;
    let i = thread::block_idx_x() as usize * BLOCK + t;
    if i < n {
        *stage.add(t) = *input.add(i);
    }
    thread::sync_threads();
    if i < n {
        let left = if t > 0 { t - 1 } else { t };
        let right = if t + 1 < BLOCK && i + 1 < n { t + 1 } else { t };
        *output.add(i) = (*stage.add(left) + *stage.add(t) + *stage.add(right)) / 3.0;
    }
}
