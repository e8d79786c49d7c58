//! The transpose, where one side is always strided, unless shared memory reorders it.
//!
//! A matrix of `rows` x `cols` floats becomes one of `cols` x `rows`. Consecutive lanes of a warp
//! should touch consecutive floats, but what is consecutive in the input is a whole row apart in
//! the output. The kernels in order:
//!
//! | kernel | what it shows | sectors per request, load and store | wavefronts per shared load |
//! | --- | --- | --- | --- |
//! | [`transpose_copy`] | no transpose at all: what `tiled` and `padded` can reach | 4, 4 | |
//! | [`transpose_strided_writes`] | reads along the rows, writes down the columns | 4, 32 | |
//! | [`transpose_strided_reads`] | the other way round | 32, 4 | |
//! | [`transpose_block16`] | square blocks: a warp has two rows, so it writes pairs | 4, 16 | |
//! | [`transpose_tiled`] | a tile in shared memory: both sides along the rows | 4, 4 | 32 |
//! | [`transpose_padded`] | one unused column in the tile | 4, 4 | 1 |
//! | [`transpose_wide`](crate::transpose_wide) | rows of the tile of any width | 4, 4 | 1 to 32 |
//! | [`transpose_diagonal`](crate::transpose_diagonal) | the tiles in another order | 4, 4 | 1 |
//! | [`transpose_batched`] | four loads in flight before the first is used | 4, 4 | 1 |
//!
//! The last step, with words of 16 bytes and larger tiles, is `best_kernels::transpose`.
//!
//! What to look for: the sectors per request (`l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum` over
//! `l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum`, and the same with `_op_st`), the bytes used
//! of each sector (`smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct`), and for the
//! tile `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum` with its
//! `l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum`. The numbers of the table are those
//! of full tiles whose rows start on 32 bytes. On an H200 the tile alone does not pay:
//! [`transpose_strided_reads`] is faster, because the tile's bank conflicts cost more than reads
//! down the columns, which often hit the caches. With the padding it does.
//!
//! # Shapes
//!
//! A block of 32 x 8 threads moves one tile of 32 x 32 elements, so each thread moves four elements
//! of one column. [`transpose_block16`] moves one element a thread, in blocks of any shape, of
//! which 16 x 16 is the lab sheet's. [`grid`] says how many blocks that makes. A matrix is linear
//! or pitched: the kernels cannot tell.
//!
//! # Where `unsafe` begins
//!
//! The compiler sees one thread. The kernels promise that no other thread writes the same element
//! of the output, whose place is not the thread's own position, and that a barrier separates the
//! writes to a tile from the reads of other threads. The sanitizer checks exactly this.

use cuda_std::{DisjointMatrix, Matrix, gpu_only, kernel};
#[gpu_only]
use cuda_std::{address_space, shared::SharedCell, thread};

/// Rows and columns of a tile.
pub const TILE: u32 = 32;

/// The sides of the block of [`transpose_block16`].
pub const BLOCK16: u32 = 16;

/// The grid that covers a `rows` x `cols` matrix with tiles of `tile = [columns, rows]` elements.
///
/// `[TILE, TILE]`, except for [`transpose_block16`], whose tile is its block. A grid has at most
/// 65535 blocks in y, so a taller one continues in z.
pub const fn grid(rows: u32, cols: u32, tile: [u32; 2]) -> [u32; 3] {
    let tiles = rows.div_ceil(tile[1]);
    let layers = tiles.div_ceil(65_535);
    let tiles_per_layer = if layers == 0 { 0 } else { tiles.div_ceil(layers) };
    [cols.div_ceil(tile[0]), tiles_per_layer, layers]
}

/// Copies the matrix, in the same tiles: what [`transpose_tiled`] and [`transpose_padded`] can
/// reach.
#[kernel(block(32, 8))]
pub fn transpose_copy(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    // Where the tile begins.
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());

    // A tile has 32 rows and the block 8 rows of threads: four rounds.
    for line in (y..32).step_by(8) {
        // SAFETY: no other thread has this line and column of this tile.
        let to = unsafe { output.element_mut(row + line, col + x) };
        if let (Some(from), Some(to)) = (input.get(row + line, col + x), to) {
            *to = *from;
        }
    }
}

/// Transposes with coalesced reads: a warp reads 32 floats of a row, and writes each to another
/// row.
#[kernel(block(32, 8))]
pub fn transpose_strided_writes(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());

    for line in (y..32).step_by(8) {
        // SAFETY: no other thread has this line and column of this tile.
        let to = unsafe { output.element_mut(col + x, row + line) };
        if let (Some(from), Some(to)) = (input.get(row + line, col + x), to) {
            *to = *from;
        }
    }
}

/// Transposes with coalesced writes: a warp reads 32 floats of a column, and writes them side by
/// side.
#[kernel(block(32, 8))]
pub fn transpose_strided_reads(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());

    for line in (y..32).step_by(8) {
        // SAFETY: no other thread has this line and row of this tile.
        let to = unsafe { output.element_mut(col + line, row + x) };
        if let (Some(from), Some(to)) = (input.get(row + x, col + line), to) {
            *to = *from;
        }
    }
}

/// Transposes one element a thread: in blocks of 16 x 16 a warp reads two half rows, and so writes
/// 16 pairs.
#[kernel]
pub fn transpose_block16(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    let at = thread::position();
    // SAFETY: no other thread has this position, so none has it with row and column exchanged.
    let to = unsafe { output.element_mut(at.col(), at.row()) };
    if let (Some(from), Some(to)) = (input.get(at.row(), at.col()), to) {
        *to = *from;
    }
}

/// Transposes through shared memory: the tile is filled by rows and emptied by columns, so that
/// both sides are coalesced.
///
/// A column of the tile is 32 floats that are 32 words apart: all in one bank, and a warp takes 32
/// wavefronts to read it.
#[kernel(block(32, 8))]
pub fn transpose_tiled(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 32]; 32]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());

    for line in (y..32).step_by(8) {
        if let Some(from) = input.get(row + line, col + x) {
            // SAFETY: no other thread has this element before the barrier.
            unsafe { (*tile)[line as usize][x as usize] = *from };
        }
    }
    thread::sync_threads();
    for line in (y..32).step_by(8) {
        // SAFETY: after the barrier all threads only read the tile, and no other thread has this
        // line and row of it.
        unsafe {
            if let Some(to) = output.element_mut(col + line, row + x) {
                *to = (*tile)[x as usize][line as usize];
            }
        }
    }
}

/// The tile again, its rows one float longer: the floats of a column are now 33 words apart, each
/// in another bank.
#[kernel(block(32, 8))]
pub fn transpose_padded(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());

    for line in (y..32).step_by(8) {
        if let Some(from) = input.get(row + line, col + x) {
            // SAFETY: no other thread has this element before the barrier.
            unsafe { (*tile)[line as usize][x as usize] = *from };
        }
    }
    thread::sync_threads();
    for line in (y..32).step_by(8) {
        // SAFETY: after the barrier all threads only read the tile, and no other thread has this
        // line and row of it.
        unsafe {
            if let Some(to) = output.element_mut(col + line, row + x) {
                *to = (*tile)[x as usize][line as usize];
            }
        }
    }
}

/// The padded tile again, but each thread has its four loads in flight before it stores the first
/// value.
///
/// A load takes several hundred cycles, and the store to the tile waits for it: in Nsight Compute's
/// terms the stall *long scoreboard*. Where each store waits for its own load, a thread waits up to
/// four times; here it waits once, for the first. Whether that gains anything depends on the
/// compiler, which may bring the loads of [`transpose_padded`] forward by itself. For 8192 x 8192
/// floats an H200 takes 149 us padded and 150 us batched, and for the same two kernels compiled by
/// nvcc 203 and 152 (2026-11-24).
#[kernel(block(32, 8))]
pub fn transpose_batched(input: Matrix<f32>, mut output: DisjointMatrix<f32>) {
    #[address_space(shared)]
    static TILE: SharedCell<[[f32; 33]; 32]> = SharedCell::uninit();
    let tile = TILE.as_mut_ptr();
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, col) = (32 * thread::block_row(), 32 * thread::block_idx_x());

    // All four loads are in flight before the first value is needed.
    let mut values = [0.0; 4];
    for step in 0..4 {
        let from = input.get(row + y + 8 * step, col + x);
        values[step as usize] = from.copied().unwrap_or(0.0);
    }
    for step in 0..4 {
        // SAFETY: no other thread has this element before the barrier.
        unsafe { (*tile)[(y + 8 * step) as usize][x as usize] = values[step as usize] };
    }
    thread::sync_threads();
    for line in (y..32).step_by(8) {
        // SAFETY: after the barrier all threads only read the tile, and no other thread has this
        // line and row of it.
        unsafe {
            if let Some(to) = output.element_mut(col + line, row + x) {
                *to = (*tile)[x as usize][line as usize];
            }
        }
    }
}

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests {
    use super::*;

    #[test]
    fn the_grid_covers_ragged_and_tall_matrices() {
        assert_eq!(grid(1000, 777, [TILE, TILE]), [25, 32, 1]);
        assert_eq!(grid(1, 1, [BLOCK16, BLOCK16]), [1, 1, 1]);
        assert_eq!(grid(65_535 * 32, 1, [TILE, TILE]), [1, 65_535, 1]);
        for rows in [65_535 * 32 + 1, 3_000_000, u32::MAX] {
            let [_, y, z] = grid(rows, 1, [TILE, TILE]);
            assert!(y <= 65_535 && z <= 65_535);
            assert!(u64::from(y) * u64::from(z) * 32 >= u64::from(rows));
        }
    }
}
