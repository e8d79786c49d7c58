//! The kernels of this exercise: one needs much shared memory and no cache, the other a cache and
//! no shared memory.

use cuda_std::prelude::*;

/// Elements of a block's part: 32 KiB.
const PART: usize = 8192;

/// Reverses each part of `PART` elements, through shared memory; the last part may be shorter.
///
/// # Safety
/// `input` and `output` hold `n` elements. There is a block of 256 threads for each part.
#[kernel(block(256))]
pub unsafe fn reverse(input: *const f32, output: *mut f32, n: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[f32; PART]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let start = PART * thread::block_idx_x() as usize;
    let count = (n as usize - start).min(PART);
    for i in (thread::thread_idx_x() as usize..count).step_by(256) {
        (*stage)[i] = *input.add(start + i);
    }
    thread::sync_threads();
    for i in (thread::thread_idx_x() as usize..count).step_by(256) {
        *output.add(start + i) = (*stage)[count - 1 - i];
    }
}

/// Reads `table` at each index.
///
/// # Safety
/// All three hold `n` elements, and each index is less than `n`. The launch has a thread for each.
#[kernel]
pub unsafe fn gather(table: *const f32, index: *const u32, output: *mut f32, n: u32) {
    let i = thread::index_1d();
    if i < n {
        *output.add(i as usize) = *table.add(*index.add(i as usize) as usize);
    }
}
