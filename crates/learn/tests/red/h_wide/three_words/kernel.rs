//! Words of 16 bytes between global memory and the stage.

use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: usize = 256;

/// Copies `count` numbers, four to a thread.
///
/// # Safety
/// Both places hold them, aligned to 16 bytes, and nothing else uses them.
#[inline(always)]
unsafe fn copy(from: *const f32, to: *mut f32, count: usize) {
    let first = 4 * thread::thread_idx_x() as usize;
    // SAFETY: the numbers are there.
    unsafe {
        if first + 4 <= count {
            *to.add(first).cast::<f32x4>() = *from.add(first).cast::<f32x4>();
        } else {
            for i in first..count {
                *to.add(i) = *from.add(i);
            }
        }
    }
}

/// Scales each vector to the length 1.
///
/// # Safety
/// `input` and `output` hold `n` vectors. Blocks have 256 threads, and there is a thread for each
/// vector.
#[kernel(block(256))]
pub unsafe fn normalize(input: *const f32, output: *mut f32, n: usize) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; 3 * BLOCK]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr().cast::<f32>();
    let t = thread::thread_idx_x() as usize;
    let first = thread::block_idx_x() as usize * BLOCK;
    let count = 3 * (n - first).min(BLOCK);

    copy(input.add(3 * first), stage, count);
    thread::sync_threads();
    if first + t < n {
        let vector = stage.add(3 * t);
        let (x, y, z) = (*vector, *vector.add(1), *vector.add(2));
        let length = (x * x + y * y + z * z).sqrt();
        *vector = x / length;
        *vector.add(1) = y / length;
        *vector.add(2) = z / length;
    }
    thread::sync_threads();
    copy(stage, output.add(3 * first), count);
}
