// fails: trap
// Starts in another column, but does not return to the beginning of the row: it runs past
// its end.

use cuda_std::prelude::*;

/// # Safety
/// `input` holds `rows` rows of 32 elements, `sums` has `rows` elements. Blocks have 32 threads,
/// one for each row.
#[kernel(block(32))]
pub unsafe fn row_sums(input: *const u32, sums: *mut u32, rows: u32) {
    #[address_space(shared)]
    static STAGE: SharedCell<[[u32; 32]; 32]> = SharedCell::uninit();
    let stage = STAGE.as_mut_ptr();
    let lane = thread::thread_idx_x() as usize;
    let first = 32 * thread::block_idx_x() as usize;
    let rows = rows as usize;
    for y in 0..32 {
        let row = first + y;
        (*stage)[y][lane] = if row < rows { *input.add(32 * row + lane) } else { 0 };
    }
    thread::sync_threads();
    let mut sum = 0_u32;
    for x in 0..32 {
        sum = sum.wrapping_add((*stage)[lane][x + lane]);
    }
    if first + lane < rows {
        *sums.add(first + lane) = sum;
    }
}
