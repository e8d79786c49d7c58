//! A tile and its halo: 36 x 12 values for 32 x 8 results

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
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 36]; 12]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    // Where the block's results begin.
    let row = 8 * thread::block_idx_y() as i32;
    let column = 32 * thread::block_idx_x() as i32;
    // The tile begins two rows and two columns before.
    for i in (y..12).step_by(8) {
        for j in (x..36).step_by(32) {
            let (row, column) = (row + i as i32 - 2, column + j as i32 - 2);
            (*tile)[i][j] = value(input, [rows, columns], row, column);
        }
    }
    thread::sync_threads();
    let (row, column) = (row + y as i32, column + x as i32);
    if row < rows && column < columns {
        let mut sum = 0.0;
        for i in 0..5 {
            for j in 0..5 {
                sum += (*tile)[y + i][x + j];
            }
        }
        *output.add(row as usize * columns as usize + column as usize) = sum / 25.0;
    }
}
