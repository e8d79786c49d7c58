//! Start in another bank
//!
//! Each thread adds up a row of 32 numbers. Read straight from global memory, neighbouring lanes
//! would be 128 bytes apart; so a warp first copies 32 rows to shared memory, side by side, and
//! each lane adds up its row there.
//!
//! But shared memory has 32 banks, and word `w` is in bank `w % 32`. A row has 32 words, so all
//! rows begin in bank 0: in each step the 32 lanes want 32 different words of the same bank. A bank
//! delivers one word at a time, and the lanes take turns.
//!
//! There are two ways out. The rows can be further apart in shared memory. Or the rows stay where
//! they are, and the lanes read them in different orders: a sum does not care where it starts.
//!
//! # Task
//!
//! Remove the bank conflicts. `rows` is any number, and each row has 32 columns. The loads from
//! global memory must stay side by side: 4 sectors for each request. Sums wrap around, so that
//! their order does not matter.

use cuda_std::prelude::*;

/// The sum of each row.
///
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

    // TODO: in each step all lanes read from the same bank.
    let mut sum = 0_u32;
    for x in 0..32 {
        sum = sum.wrapping_add((*stage)[lane][x]);
    }
    if first + lane < rows {
        *sums.add(first + lane) = sum;
    }
}
