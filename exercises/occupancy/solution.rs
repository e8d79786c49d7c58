//! Stage less: one sum of each thread

use cuda_std::prelude::*;

/// Elements that a block adds up.
const PART: usize = 8192;

/// Threads of a block.
const BLOCK: usize = 128;

/// The sum of each part; sums wrap around.
///
/// # Safety
/// `input` holds `n` elements. Blocks have 128 threads, one block for each 8192 elements, and
/// `sums` has an element for each block.
#[kernel(block(128))]
pub unsafe fn sum(input: *const u32, sums: *mut u32, n: u32) {
    // 512 bytes: what the threads pass to each other.
    #[address_space(shared)]
    static STAGE: SharedCell<[u32; BLOCK]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    let first = PART * thread::block_idx_x() as usize;

    // Each thread adds up every 128th element in a register. In each step neighbouring threads load
    // neighbours.
    let mut own = 0_u32;
    for i in (t..PART).step_by(BLOCK) {
        if first + i < n as usize {
            own = own.wrapping_add(*input.add(first + i));
        }
    }
    (*stage)[t] = own;
    thread::sync_threads();
    // The second half is added to the first until one element is left.
    let mut half = BLOCK / 2;
    while half > 0 {
        if t < half {
            (*stage)[t] = (*stage)[t].wrapping_add((*stage)[t + half]);
        }
        thread::sync_threads();
        half /= 2;
    }
    if t == 0 {
        *sums.add(thread::block_idx_x() as usize) = (*stage)[0];
    }
}
