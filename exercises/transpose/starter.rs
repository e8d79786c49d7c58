//! Transpose in shared memory
//!
//! Consecutive threads of this transpose read consecutive elements of a row, so each request of a
//! warp takes 4 sectors of 32 bytes: 128 bytes, all of them used. But what is consecutive in the
//! input is a column of the output. There a warp writes 32 elements that are a whole row apart: 32
//! sectors, and of each only 4 bytes are used. The other way round, the reads would be the slow
//! side.
//!
//! A block can transpose its part of the matrix in shared memory instead. There it does not matter
//! how far apart the words of a warp are, as long as they are in different banks. The block reads a
//! tile of 32 x 32 elements by rows and keeps it. When it is complete, thread (x, y) writes an
//! element that another thread has read, so that consecutive threads again write consecutive
//! elements.
//!
//! # Task
//!
//! Load and store each sector only once, `rows * cols / 8` of both: 4 for each request of a warp.
//! There must be no bank conflicts. Matrices have any number of rows and columns. Blocks have 32 x
//! 32 threads.

use cuda_std::prelude::*;

/// Transposes the matrix.
///
/// # Safety
/// `input` holds `rows` rows of `cols` elements, `output` has room for `cols` rows of `rows`.
/// Blocks are 32 x 32; x counts columns of the input and y rows.
#[kernel(block(32, 32))]
pub unsafe fn transpose(input: *const f32, output: *mut f32, rows: u32, cols: u32) {
    // TODO: read a tile of the input into shared memory, then write it as a tile of the output.
    let (rows, cols) = (rows as usize, cols as usize);
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    // Where the block's tile begins in the input.
    let (row, col) = (32 * thread::block_idx_y() as usize, 32 * thread::block_idx_x() as usize);
    if row + y < rows && col + x < cols {
        *output.add((col + x) * rows + row + y) = *input.add((row + y) * cols + col + x);
    }
}
