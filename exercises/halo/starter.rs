//! A tile and its halo
//!
//! A blur makes each value the mean of the 5 x 5 values around it. Straight from global memory that
//! is 25 loads for each result. Most of them hit the cache, but each is still a request, of 4 or 5
//! sectors.
//!
//! The 32 x 8 results of a block need 36 x 12 values: their own, and two more on each side, the
//! *halo*, corners included. The block can load these once, into shared memory, and read them there
//! 25 times. Values outside of the matrix count as 0: once the tile is filled, the edges need
//! no special case.
//!
//! # Task
//!
//! Load the tile with its halo into shared memory, and compute from there: at most 3.5 times the
//! sectors that the matrix has.
//!
//! The tile has more values than the block has threads, so threads load more than one. At the right
//! and at the lower edge of the matrix there are threads without a result: they, too, must load
//! their part of the halo and reach the barrier.

use cuda_std::prelude::*;

/// A value of the matrix; outside of it 0.
///
/// # Safety
/// `input` holds `rows` rows of `columns` values.
#[inline(always)]
unsafe fn value(input: *const f32, [rows, columns]: [i32; 2], row: i32, column: i32) -> f32 {
    if (0..rows).contains(&row) && (0..columns).contains(&column) {
        *input.add(row as usize * columns as usize + column as usize)
    } else {
        0.0
    }
}

/// `output` becomes the mean of 5 x 5 values of `input`.
///
/// # Safety
/// `input` and `output` hold `rows` rows of `columns` values. Blocks have 32 x 8 threads, and there
/// is a thread for each value.
#[kernel(block(32, 8))]
pub unsafe fn blur(input: *const f32, output: *mut f32, rows: i32, columns: i32) {
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let row = 8 * thread::block_idx_y() as i32 + y as i32;
    let column = 32 * thread::block_idx_x() as i32 + x as i32;
    if row < rows && column < columns {
        // TODO: 25 loads from global memory. Read a tile instead, which the block has filled:
        //     #[address_space(shared)]
        //     static TILE: SharedCell<[[f32; 36]; 12]> = SharedCell::uninit();
        //     let tile = TILE.as_mut_ptr();
        let mut sum = 0.0;
        for i in 0..5 {
            for j in 0..5 {
                sum += value(input, [rows, columns], row + i - 2, column + j - 2);
            }
        }
        *output.add(row as usize * columns as usize + column as usize) = sum / 25.0;
    }
}
