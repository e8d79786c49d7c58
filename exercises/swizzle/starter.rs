//! Shuffle the columns
//!
//! Each column of a tile of 32 x 32 words lies in one bank, and one more column, unused, removes
//! the conflicts. But padding costs memory, and sometimes there is none to spare. Here the launch
//! gives each block 4096 bytes of dynamic shared memory: exactly 32 x 32 words.
//!
//! There is another way. Nothing says that element (y, x) must be in column `x` of its row. If
//! every row keeps its elements in a different order, the elements of one column are in different
//! banks. This is called a *swizzle*. It takes an order that costs little to compute, uses each
//! place of the row once, and is different in each row.
//!
//! Exclusive or does all of that: for a fixed `y`, `x ^ y` reaches each of 0 to 31 once as `x` goes
//! from 0 to 31. For a fixed `x` it does so as `y` goes from 0 to 31.
//!
//! # Task
//!
//! Remove the bank conflicts without any more shared memory. Matrices have any number of rows and
//! columns.

use cuda_std::prelude::*;

/// Where element (y, x) of the tile is kept.
fn place(y: usize, x: usize) -> usize {
    // TODO: another order in each row.
    32 * y + x
}

/// Transposes the matrix.
///
/// # Safety
/// `input` holds `rows` rows of `cols` elements, `output` has room for `cols` rows of `rows`.
/// Blocks are 32 x 8, one for each tile of 32 x 32, with 4096 bytes of dynamic shared memory.
#[kernel(block(32, 8))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    let tile = shared::dynamic_shared_mem::<f32>();
    let (rows, cols) = (rows as usize, cols as usize);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    // Where the tile begins in the input.
    let (row, col) = (32 * thread::block_idx_y() as usize, 32 * thread::block_idx_x() as usize);

    // A tile has 32 rows and the block 8 rows of threads: four rounds.
    for line in (y..32).step_by(8) {
        if row + line < rows && col + x < cols {
            *tile.add(place(line, x)) = *input.add((row + line) * cols + col + x);
        }
    }
    thread::sync_threads();
    for line in (y..32).step_by(8) {
        if col + line < cols && row + x < rows {
            *output.add((col + line) * rows + row + x) = *tile.add(place(x, line));
        }
    }
}
