//! An array with a column for each thread: word `at` of a warp is in 32 banks

use cuda_std::prelude::*;

/// Threads of a block.
const BLOCK: usize = 128;

/// The longest delay.
const MOST: usize = 64;

/// Adds to each sample of a column half of the output `delay` rows before.
///
/// # Safety
/// `samples` and `output` hold `rows` x `columns` elements; `delay` is from 1 to 64. Blocks have
/// 128 threads, and there is a thread for each column.
#[kernel(block(128))]
pub unsafe fn echo(samples: *const f32, output: *mut f32, rows: u32, columns: u32, delay: u32) {
    #[address_space(shared)]
    static RINGS: SharedCell<[[f32; BLOCK]; MOST]> = SharedCell::uninit();
    let rings = RINGS.as_mut_ptr();
    let t = thread::thread_idx_x() as usize;
    let (column, columns, delay) = (thread::wide_index_1d(), columns as usize, delay as usize);
    if column < columns {
        for at in 0..delay {
            (*rings)[at][t] = 0.0;
        }
        let mut at = 0;
        for row in 0..rows as usize {
            let i = row * columns + column;
            let sample = *samples.add(i) + 0.5 * (*rings)[at][t];
            (*rings)[at][t] = sample;
            *output.add(i) = sample;
            at = if at + 1 < delay { at + 1 } else { 0 };
        }
    }
}
