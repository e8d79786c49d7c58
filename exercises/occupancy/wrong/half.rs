// fails: hopper: occupancy
// Half of the elements is still too much: 16 KB for 4 warps.

use cuda_std::prelude::*;

/// Elements that a block adds up.
const PART: usize = 8192;

/// Threads of a block.
const BLOCK: usize = 128;

/// # Safety
/// `input` holds `n` elements. Blocks have 128 threads, one block for each 8192 elements, and
/// `sums` has an element for each block.
#[kernel(block(128))]
pub unsafe fn sum(input: *const u32, sums: *mut u32, n: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[u32; PART / 2]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    let first = PART * thread::block_idx_x() as usize;

    let element = |i: usize| if first + i < n as usize { *input.add(first + i) } else { 0 };
    for i in (t..PART / 2).step_by(BLOCK) {
        (*stage)[i] = element(i).wrapping_add(element(i + PART / 2));
    }
    thread::sync_threads();
    // The second half is added to the first until one element is left.
    let mut half = PART / 4;
    while half > 0 {
        for i in (t..half).step_by(BLOCK) {
            (*stage)[i] = (*stage)[i].wrapping_add((*stage)[i + half]);
        }
        thread::sync_threads();
        half /= 2;
    }
    if t == 0 {
        *sums.add(thread::block_idx_x() as usize) = (*stage)[0];
    }
}
